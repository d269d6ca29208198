//! The running turn together with what its steps need, and the execution of its effects.
//!
//! [`Turn`] decides, purely; [`ActiveTurn`] carries the decisions out: it logs, emits events, calls the model and starts tasks. Each
//! topic has its own file: `check` (verdicts), `run_call`, `port` (requests of calls), `prompts`, `compact`, `tool_hooks`, `hooks`.

use std::sync::Arc;
use std::time::Duration;

use musher_model::{OutputSchema, with_retries};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::outbox::Outbox;
use super::prompt_queue::Prompts;
use super::running::Running;
use super::state::Session;
use super::tasks::{Input, TurnInput, TurnSender, forward_model};
use super::turn::{Effect, Turn};
use super::{request, tool_selection};
use crate::command::CommandId;
use crate::context::{deferred_reminder, working_tree};
use crate::event::{TurnEnd, UserRequest};
use crate::{Environment, Event};
use musher_message::{Message, Role};
use musher_store::StoreError;
use musher_tools::ToolOutput;

/// How long the first call of the model waits for MCP servers of the settings files.
const SERVER_GRACE: Duration = Duration::from_millis(500);

/// The running turn, its session, and the way out for events and tasks.
pub(super) struct ActiveTurn<'a> {
    pub(super) environment: &'a Arc<Environment>,
    pub(super) inputs: &'a mpsc::Sender<Input>,
    pub(super) out: &'a mut Outbox,
    pub(super) session: &'a mut Session,
    pub(super) running: &'a mut Running,
    pub(super) prompts: &'a mut Prompts,
    /// Whether no client can answer requests any more.
    pub(super) is_unattended: bool,
}

impl ActiveTurn<'_> {
    /// Lets the turn decide, and performs the effects of the decision.
    ///
    /// If this is called while effects are performed, the new ones are queued behind them: see [`Running::decide`].
    pub(super) fn step(&mut self, decide: impl FnOnce(&mut Turn, &mut Vec<Effect>)) {
        if !self.running.decide(decide) {
            return;
        }
        while let Some(effect) = self.running.next_effect() {
            self.perform(effect);
        }
    }

    /// Handles the input of a task of this turn.
    pub(super) fn receive(&mut self, input: TurnInput) {
        match input {
            TurnInput::Model { call, event } => self.step(|turn, effects| {
                if turn.model_calls() == call {
                    turn.model(event, std::time::Instant::now(), effects);
                }
            }),
            TurnInput::ServersReady { call } => {
                if self.is_current(call) && !self.wait_for_working_tree() {
                    self.call_model();
                }
            }
            TurnInput::WorkingTree { call, report } => {
                if let Some(report) = report {
                    self.session.remind(report);
                }
                if self.is_current(call) {
                    self.call_model();
                }
            }
            TurnInput::CheckAgain { index, call } => self.check_known(index, *call),
            TurnInput::Hook(progress) => self.hook_progress(*progress),
            TurnInput::PromptHooks(outcome) => self.prompt_hooks_done(&outcome),
            TurnInput::CompactionOutcome(outcome) => self.conversation_compacted(outcome),
            TurnInput::StopHooks(outcome) => self.stop_hooks_done(&outcome),
            TurnInput::PreToolHooks(outcome) => self.pre_tool_hooks_done(&outcome),
            TurnInput::Rewritten { index, input } => {
                self.step(|turn, effects| turn.rewrite(index, input, effects));
            }
            TurnInput::PostToolHooks { index, output, outcome } => {
                self.post_tool_hooks_done(index, output, &outcome);
            }
            TurnInput::Verdict { index, verdict, policy } => self.step(|turn, effects| {
                if let Some(policy) = policy {
                    turn.keep_policy(index, policy);
                }
                turn.apply_verdict(index, verdict, effects);
            }),
            TurnInput::Halted { index, reason } => self.step(|turn, effects| {
                turn.halt(index, ToolOutput::error(&reason, &reason), &reason, effects);
            }),
            TurnInput::Request(request) => self.call_request(*request),
            TurnInput::Progress(event) => {
                if !self.running.turn.is_over() {
                    self.emit(*event);
                }
            }
            TurnInput::Done { index, output } => self.call_ran(index, output),
            TurnInput::FailedInSandbox { index, request, output } => {
                self.step(|turn, effects| turn.ask_again(index, request, output, effects));
            }
            TurnInput::LedElsewhere { index, output } => {
                if self.running.turn.may_judge_again(index) {
                    self.step(|turn, effects| turn.judge_again(index, effects));
                } else {
                    self.call_ran(index, output);
                }
            }
            TurnInput::Denied { index, output } => {
                self.step(|turn, effects| turn.denied(index, output, effects));
            }
            TurnInput::Ended { panic } => self.task_ended(panic),
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Emit(event) => self.emit(event),
            Effect::Append(message) => self.append(message, None),
            Effect::AppendSilently(message) => {
                self.log(message);
            }
            Effect::Used(usage) => {
                let event = self.session.record_call(usage);
                self.emit(event);
            }
            Effect::CallModel => {
                if !self.wait_for_servers() && !self.wait_for_working_tree() {
                    self.call_model();
                }
            }
            Effect::Check { index, call } => self.check(index, call),
            Effect::Recheck { index, call, policy } => self.recheck(index, call, policy),
            Effect::Decided { request, choice } => {
                if let Some(event) = self.session.apply_decision(&request, choice) {
                    self.emit(event);
                }
            }
            Effect::Run { index, call, access, decision } => {
                // repeating a call that only reads is harmless
                let is_read_only =
                    self.environment.tools.info(&call.name).is_some_and(|info| info.is_read_only);
                if self.environment.records_calls
                    && !is_read_only
                    && let Err(error) = self.session.call_starts(&call.id)
                {
                    return self.log_failed(&error);
                }
                self.run_call(index, call, access, decision);
            }
            Effect::StepDone(next) => self.step_done(next),
            Effect::ContextOverflow { error } => self.context_overflow(error),
            Effect::DropThinking => self.session.reject_thinking(),
            Effect::Answered { index, output } => self.running.answer_question(index, output),
            Effect::AskUser(request) => self.ask_user(request),
            Effect::HandOver { plan, autonomy } => self.running.hand_over(plan, autonomy),
            Effect::Finish(reason) => self.running.finish(reason, self.stop_deadline()),
        }
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.out.push(Some(self.session.id().clone()), event);
    }

    /// Registers a task of the turn. Returns how it reports, and what cancels it.
    pub(super) fn task(&mut self) -> (TurnSender, CancellationToken) {
        self.running.task(self.inputs)
    }

    fn stop_deadline(&self) -> Instant {
        Instant::now() + self.environment.limits.stop
    }

    /// Logs a message, then emits it.
    pub(super) fn append(&mut self, message: Message, command_id: Option<CommandId>) {
        if let Some(message) = self.log(message) {
            self.emit(Event::Message { message, command_id });
        }
    }

    /// Logs a message. If that fails, the turn ends.
    pub(super) fn log(&mut self, mut message: Message) -> Option<Arc<Message>> {
        if message.role == Role::Assistant {
            self.session.mark_response(&mut message);
            message.reasoning_effort = Some(self.session.effort_in_use().name().to_owned());
        }
        match self.session.append(message) {
            Ok(message) => Some(message),
            Err(error) => {
                self.log_failed(&error);
                None
            }
        }
    }

    /// Ends the turn because its log cannot be written.
    pub(super) fn log_failed(&mut self, error: &StoreError) {
        self.problem(error.with_causes().to_string(), "PersistenceError");
        self.running.log_failed(self.stop_deadline());
    }

    /// Emits a problem for the user.
    pub(super) fn problem(&mut self, message: String, name: &str) {
        self.emit(Event::problem(message, name));
    }

    /// Calls the model, and cancels the call before.
    fn call_model(&mut self) {
        self.log_reminders();
        let Some(model) = self.session.model() else {
            let known: Vec<String> =
                self.session.models().views().into_iter().map(|model| model.id).collect();
            let id = self.session.model_id();
            let text = match known.as_slice() {
                [] => format!("Unknown model `{id}`, and no other model is configured."),
                known => format!("Unknown model `{id}`. Available models: {}.", known.join(", ")),
            };
            return self.step(|turn, effects| turn.fail(text, Some("Error"), TurnEnd::Error, effects));
        };
        if let Some(text) = self.session.unsupported_effort(&model) {
            self.problem(text, "SettingsProblem");
        }
        let system = vec![self.session.system_text()];
        let tools = tool_selection::offered(&self.environment.tools, self.session);
        let (mut request, origin) = request::build(self.session, &model, system, tools);
        self.session.set_origin(origin);
        let schema = self.running.schema().cloned();
        request.output = schema.map(|schema| OutputSchema { name: "answer".to_owned(), schema });
        let stream = with_retries(model.provider, request, self.environment.retries);
        let call = self.running.turn.model_calls();
        let (sender, cancel) = self.running.model_call(self.inputs);
        sender.spawn(forward_model(stream, call, cancel, sender.clone()));
    }

    /// Starts to wait for MCP servers before the first call of the model. Returns whether the call has to wait.
    ///
    /// It waits for servers that the client gave for this session, and only a moment for others: a slow server must not delay the answer.
    /// The model gets its tools when they are there.
    fn wait_for_servers(&mut self) -> bool {
        let has_new_login = self.session.mcp().resume_after_login();
        if !self.session.servers_mut().begin_wait() && !has_new_login {
            return false;
        }
        let mcp = self.session.mcp().clone();
        let waits_for_all = self.session.config().settings.block_on_mcp_load == Some(true);
        let call = self.running.turn.model_calls();
        let (sender, cancel) = self.task();
        sender.clone().spawn(async move {
            let ready = async {
                if waits_for_all {
                    mcp.settled().await;
                } else {
                    tokio::time::timeout(SERVER_GRACE, mcp.settled()).await.ok();
                    mcp.given_settled().await;
                }
            };
            tokio::select! {
                () = cancel.cancelled() => {}
                () = ready => { sender.send(TurnInput::ServersReady { call }).await; }
            }
        });
        true
    }

    /// Starts to read the uncommitted changes before the first call of the model. Returns whether the call has to wait.
    fn wait_for_working_tree(&mut self) -> bool {
        let root = self.session.config().root.clone();
        if !self.session.begin_working_tree() || !root.join(".git").exists() {
            return false;
        }
        let variables = self.session.tools().environment.to_vec();
        let sandboxes = Arc::clone(self.session.sandboxes());
        let call = self.running.turn.model_calls();
        let (sender, cancel) = self.task();
        sender.clone().spawn(async move {
            let sandbox = tokio::task::spawn_blocking(move || sandboxes.of_look()).await.ok().flatten();
            let report = working_tree(&root, &variables, sandbox.as_ref(), &cancel).await;
            sender.send(TurnInput::WorkingTree { call, report }).await;
        });
        true
    }

    /// Returns whether this is the latest call of the model, and the turn is not over.
    fn is_current(&self, call: usize) -> bool {
        self.running.turn.model_calls() == call && !self.running.turn.is_over()
    }

    /// Tells the model which tools of MCP servers it can search for, as they become known.
    fn announce_tools(&mut self) {
        let registry = &self.environment.tools;
        let is_first = self.session.servers().direct().is_none();
        if is_first {
            let direct = tool_selection::direct_mcp_tools(registry, self.session);
            self.session.servers_mut().set_direct(direct);
            self.session.save();
        }
        let deferred = tool_selection::deferred_mcp_tools(self.session);
        let new = self.session.servers_mut().announce(deferred);
        let connecting = if is_first { self.session.mcp().connecting() } else { Vec::new() };
        if let Some(text) = deferred_reminder(&new, &connecting) {
            self.session.remind(text);
        }
    }

    /// Logs what the model has to know before it is called: results of background subagents, and reminders.
    fn log_reminders(&mut self) {
        self.announce_tools();
        let reminders = self.session.take_reminders();
        for completion in self.session.subagents().completions(self.session.settings().mode) {
            let command_id = Some(CommandId(completion.id.as_str().into()));
            self.append(completion, command_id);
        }
        // clients get reminders, too: the next message names its parent
        if let Some(reminders) = reminders {
            self.append(reminders, None);
        }
    }

    /// Asks the user. Without a client the request is denied.
    fn ask_user(&mut self, request: UserRequest) {
        if let UserRequest::Permission { calls, .. } = &request {
            let text = format!("Permission is needed to run {} tool(s)", calls.len());
            self.notify_hooks(text, "permission_prompt");
        }
        self.emit(Event::UserRequest(request));
        if self.is_unattended {
            self.deny_open_request();
        }
    }

    /// Denies the open request of the turn.
    pub(super) fn deny_open_request(&mut self) {
        if let Some(id) = self.running.turn.open_request().map(|request| request.id().to_owned()) {
            let response = crate::UserResponse::Denied { reason: None };
            self.step(|turn, effects| turn.respond(&id, response, effects));
        }
    }

    fn task_ended(&mut self, panic: Option<String>) {
        self.running.task_ended();
        let Some(panic) = panic else { return };
        tracing::error!(%panic, "a task of a turn panicked");
        let text = format!("The turn was stopped by a bug in the engine: {panic}");
        self.step(|turn, effects| {
            if !turn.is_over() {
                let mut settled = Vec::new();
                turn.interrupt(&mut settled);
                effects.append(&mut settled);
                turn.fail(text, Some("InternalError"), TurnEnd::Error, effects);
            }
        });
    }
}
