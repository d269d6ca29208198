//! Hooks of the session and of the turn as a whole. Tasks run them; progress and outcome come back as inputs.
//!
//! Hooks of calls are in `tool_hooks`, those before a compaction in `compact`, those at the end of a session in `session_end_hooks`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::active_turn::ActiveTurn;
use super::queued_prompt::Queued;
use super::state::Session;
use super::tasks::{SessionInput, SessionSender, TurnInput, TurnSender};
use super::turn::{Turn, hook_context, message, user_note};
use crate::hooks::env_file;
use crate::hooks::{About, HookEvent, HookOutcome, HookProgress, Hooks, Place};
use crate::{Autonomy, Event, HookRun, Mode, Settings};
use musher_message::{Message, Role, Visibility};

/// The hooks of a session with their input: everything a task needs to run them.
#[derive(Debug, Clone)]
pub(crate) struct HookRunner {
    hooks: Arc<Hooks>,
    session_id: String,
    transcript: PathBuf,
    cwd: PathBuf,
    permission_mode: &'static str,
    place: Place,
}

impl HookRunner {
    pub(super) fn new(session: &Session, hooks: Arc<Hooks>) -> Self {
        Self {
            hooks,
            session_id: session.id().as_str().to_owned(),
            transcript: session.conversation().log_path(),
            cwd: session.cwd().to_owned(),
            permission_mode: permission_mode(session.settings()),
            place: Place {
                project: session.config().root.clone(),
                environment: session.tools().environment.to_vec(),
                sandbox: session.program_sandbox().cloned(),
            },
        }
    }

    /// Runs the hooks of an event.
    pub(crate) async fn run<Done: Future<Output = ()>>(
        &self,
        event: &HookEvent<'_>,
        ids: &HookRun,
        cancel: &CancellationToken,
        listener: impl FnMut(HookProgress) -> Done,
    ) -> HookOutcome {
        let about = About {
            session_id: &self.session_id,
            transcript_path: &self.transcript,
            cwd: &self.cwd,
            permission_mode: self.permission_mode,
        };
        self.hooks.fire(event, &about, &self.place, ids, cancel, listener).await
    }

    /// Runs the hooks of an event, and reports their progress to the turn.
    pub(crate) async fn run_in_turn(
        &self,
        event: &HookEvent<'_>,
        ids: &HookRun,
        cancel: &CancellationToken,
        sender: &TurnSender,
    ) -> HookOutcome {
        self.run(event, ids, cancel, sender.hook_listener()).await
    }

    /// Reads the variables hooks have left for commands.
    async fn read_variables(
        &self,
        file: Option<&Path>,
        cancel: &CancellationToken,
    ) -> Option<env_file::Variables> {
        env_file::read(file?, &self.cwd, &self.place.environment, cancel).await
    }
}

/// Returns the ids of a hook run about a message.
pub(super) fn about_message(id: &str) -> HookRun {
    HookRun { parent_id: Some(id.to_owned()), ..HookRun::default() }
}

impl Session {
    /// Starts the `SessionStart` hooks. Returns what cancels them, or `None` if there are none.
    pub(super) fn run_start_hooks(
        &self,
        source: &'static str,
        sender: SessionSender,
    ) -> Option<CancellationToken> {
        let message_id = self.conversation().last_id().map(str::to_owned);
        let event = HookEvent::SessionStart { source, message_id: message_id.as_deref(), env_file: None };
        let runner = self.hooks_for(&event)?;
        let cancel = self.cancelled().child_token();
        let env_file = env_file::place(&self.tools().scratch)
            .inspect_err(|error| tracing::warn!(%error, "hooks cannot leave variables for commands"));
        let (env_file, cancelled) = (env_file.ok(), cancel.clone());
        tokio::spawn(async move {
            let env_file = env_file.as_deref();
            let event = HookEvent::SessionStart { source, message_id: message_id.as_deref(), env_file };
            let ids = HookRun { parent_id: message_id.clone(), ..HookRun::default() };
            let outcome = runner.run(&event, &ids, &cancelled, sender.hook_listener()).await;
            let variables = runner.read_variables(env_file, &cancelled).await;
            sender.send(SessionInput::Started { outcome: Box::new(outcome), variables }).await;
        });
        Some(cancel)
    }

    /// Applies the outcome of the `SessionStart` hooks: the model reads their context with the next prompt, and commands get their
    /// variables.
    pub(super) fn start_hooks_done(&mut self, outcome: &HookOutcome, variables: Option<env_file::Variables>) {
        if let Some(variables) = variables {
            self.set_command_variables(variables);
        }
        if let Some(text) = &outcome.additional_context {
            self.remind(hook_context("SessionStart", text));
        }
    }

    /// Returns whether `UserPromptSubmit` hooks may refuse prompts. They run before a prompt becomes part of the conversation.
    pub(super) fn has_prompt_hooks(&self) -> bool {
        let event = HookEvent::UserPromptSubmit { message_id: "", prompt: "", has_images: false };
        // the prompt of a subagent comes from a model
        self.subagent().is_none() && self.has_hooks(&event)
    }

    /// Starts the `Notification` hooks. Nothing waits for them.
    pub(super) fn notify_hooks(&self, text: String, kind: &'static str, sender: SessionSender) {
        let event = HookEvent::Notification { message: &text, notification_type: kind };
        let Some(runner) = self.hooks_for(&event) else { return };
        let cancel = self.cancelled().clone();
        tokio::spawn(async move {
            let event = HookEvent::Notification { message: &text, notification_type: kind };
            runner.run(&event, &HookRun::default(), &cancel, sender.hook_listener()).await;
        });
    }
}

impl ActiveTurn<'_> {
    /// Logs and announces the progress of hooks.
    pub(super) fn hook_progress(&mut self, progress: HookProgress) {
        if let HookProgress::Completed(run) = &progress {
            for message in self.session.keep_hook_run(hook_message(run)) {
                self.log(message);
            }
        }
        self.emit(hook_event(progress));
    }

    /// Shows the user what hooks want to say.
    pub(super) fn report_hooks(&mut self, outcome: &HookOutcome) {
        if let Some(text) = &outcome.system_message {
            self.append(user_note(text), None);
        }
        if let Some(failure) = &outcome.failure {
            tracing::warn!(%failure, "a hook");
        }
    }

    pub(super) fn notify_hooks(&self, text: String, kind: &'static str) {
        let sender = SessionSender::new(self.session.number(), self.inputs.clone());
        self.session.notify_hooks(text, kind, sender);
    }

    /// Runs the `UserPromptSubmit` hooks. The turn holds the prompt until they have ended.
    pub(super) fn run_prompt_hooks(&mut self, queued: Queued) {
        let (id, prompt) = (queued.id.clone(), queued.prompt.text.clone());
        let has_images = !queued.prompt.images.is_empty();
        let runner = self.session.hook_runner();
        let (sender, cancel) = self.task();
        self.running.hold_prompt(queued);
        sender.clone().spawn(async move {
            let event = HookEvent::UserPromptSubmit { message_id: &id, prompt: &prompt, has_images };
            let outcome = runner.run_in_turn(&event, &about_message(&id), &cancel, &sender).await;
            sender.send(TurnInput::PromptHooks(Box::new(outcome))).await;
        });
    }

    /// The `UserPromptSubmit` hooks have ended: enters the prompt, or ends the turn without it.
    pub(super) fn prompt_hooks_done(&mut self, outcome: &HookOutcome) {
        let Some(queued) = self.running.take_prompt() else { return };
        if self.running.turn.is_over() {
            return self.session.discard_prompt(&queued);
        }
        if let Some(reason) = outcome.stop.as_ref().or(outcome.block.as_ref()) {
            self.session.discard_prompt(&queued);
            self.problem(reason.clone(), "Error");
            self.emit(Event::Discarded { text: queued.prompt.text, command_id: queued.command_id });
            return self.step(Turn::refuse);
        }
        if let Some(text) = &outcome.additional_context {
            self.session.remind(hook_context("UserPromptSubmit", text));
        }
        self.enter_prompt(queued);
        self.report_hooks(outcome);
    }

    /// The model has finished: runs the `Stop` hooks, which may make it continue.
    pub(super) fn run_stop_hooks(&mut self, message_id: String) {
        let turn = &self.running.turn;
        let (is_again, elapsed) = (turn.was_held(), millis(turn.started()));
        let tools = u64::try_from(turn.tool_count()).unwrap_or(u64::MAX);
        let is_subagent = self.session.subagent().is_some();
        let event = stop_event(is_subagent, &message_id, is_again, tools, elapsed);
        let Some(runner) = self.session.hooks_for(&event) else {
            return self.step(|turn, effects| turn.stop(None, effects));
        };
        let (sender, cancel) = self.task();
        sender.clone().spawn(async move {
            let event = stop_event(is_subagent, &message_id, is_again, tools, elapsed);
            let ids = about_message(&message_id);
            let outcome = runner.run_in_turn(&event, &ids, &cancel, &sender).await;
            sender.send(TurnInput::StopHooks(Box::new(outcome))).await;
        });
    }

    /// The `Stop` hooks have ended.
    pub(super) fn stop_hooks_done(&mut self, outcome: &HookOutcome) {
        self.report_hooks(outcome);
        // a hook that ends everything does not want the model to continue
        let reason = outcome.block.clone().filter(|_| outcome.stop.is_none());
        self.step(|turn, effects| turn.stop(reason, effects));
    }
}

/// Returns the event that announces the progress of hooks.
pub(super) fn hook_event(progress: HookProgress) -> Event {
    match progress {
        HookProgress::Started(run) => Event::HookStarted(Box::new(run)),
        HookProgress::Completed(run) => Event::HookCompleted(Box::new(run)),
    }
}

fn stop_event(
    is_subagent: bool,
    message_id: &str,
    stop_hook_active: bool,
    tool_execution_count: u64,
    elapsed_time: u64,
) -> HookEvent<'_> {
    if is_subagent {
        return HookEvent::SubagentStop { message_id, stop_hook_active, tool_execution_count, elapsed_time };
    }
    HookEvent::Stop { message_id, stop_hook_active, tool_execution_count, elapsed_time }
}

pub(super) fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Returns a hook run as it is logged, with droid's field names.
pub(super) fn hook_message(run: &HookRun) -> Message {
    let mut kept = message(run.id.clone(), Role::System, Vec::new(), Visibility::UserOnly);
    let begun = i64::try_from(run.order / 1000).unwrap_or(kept.created_at_ms);
    let commands = run.commands.iter().map(|(command, timeout)| {
        let mut shown = json!({"type": "command", "command": command});
        if let Some(timeout) = timeout {
            shown["timeout"] = json!(timeout);
        }
        shown
    });
    let results = run.results.iter().map(
        |result| json!({"exitCode": result.exit_code, "stdout": result.stdout, "stderr": result.stderr}),
    );
    let fields = [
        ("hookEventName", json!(run.event)),
        ("hookMatcher", json!(run.matcher)),
        ("hookCommands", commands.collect()),
        ("hookStatus", json!(if run.has_failed() { "error" } else { "completed" })),
        ("hookResults", results.collect()),
        ("hookToolCallId", json!(run.tool_call_id)),
        ("hookParentId", json!(run.parent_id)),
        ("hookOrder", json!(run.order)),
        ("hookStartTime", json!(begun)),
        ("hookEndTime", json!(kept.updated_at_ms)),
    ];
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    kept.extra.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    kept.created_at_ms = begun;
    kept
}

/// Returns the permission mode as hooks read it.
fn permission_mode(settings: &Settings) -> &'static str {
    match (settings.mode, settings.autonomy) {
        (Mode::Spec, _) => "spec",
        (_, Autonomy::Off) => "off",
        (_, Autonomy::Low) => "auto-low",
        (_, Autonomy::Medium) => "auto-medium",
        (_, Autonomy::High) => "auto-high",
    }
}
