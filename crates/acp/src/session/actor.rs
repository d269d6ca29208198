//! The task of a session, which owns all of its state.
//!
//! It never waits for the agent or the editor: whatever takes time is a task of its own, which sends a message when it is done.
//! A task that panics fails what it was for, and nothing else.

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{PromptResponse, SessionConfigOption, SessionUpdate};
use musher::{CancellationToken, Event, SessionGrants, SessionState};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};

use super::agent::{AgentStarter, AgentState, has_ended, next_state};
use super::command::{Command, Reply, Snapshot, TurnContext, models};
use super::editor_connection::EditorConnection;
use super::failure::{opening_error, session_closed};
use super::prompt::PromptTask;
use super::prompt_queue::{PromptQueue, QueuedPrompt, RunningPrompt};
use super::reported::ReportedState;
use super::{Choices, SessionPort, operations};
use crate::convert::translate::Translator;
use crate::convert::usage::ContextUsage;
use crate::modes;
use crate::registry::{Registry, explained};

/// How many requests besides prompts may be carried out at once.
const MAX_OPERATIONS: usize = 64;

/// The state of a session.
#[derive(Debug)]
pub(super) struct SessionActor {
    registry: Arc<Registry>,
    starter: AgentStarter,
    /// For the tasks it starts.
    port: SessionPort,
    editor: EditorConnection,
    commands: mpsc::Receiver<Command>,
    agent: AgentState,
    /// The states of the running agent.
    states: Option<watch::Receiver<SessionState>>,
    /// The model the session began with.
    first_model: Option<String>,
    translator: Translator,
    reported: ReportedState,
    context: ContextUsage,
    /// What the user has allowed for the rest of the session.
    grants: SessionGrants,
    prompts: PromptQueue,
    running: Option<RunningPrompt>,
    /// Cancelled with the running turn; requests of the agent end with it.
    turn: CancellationToken,
    tasks: JoinSet<()>,
    /// The editor knows the session, so that updates may be sent.
    is_introduced: bool,
    /// Where to say that the session is closed.
    closing: Vec<Reply<()>>,
    is_agent_closed: bool,
}

impl SessionActor {
    pub(super) fn new(
        registry: Arc<Registry>,
        starter: AgentStarter,
        port: SessionPort,
        editor: EditorConnection,
        commands: mpsc::Receiver<Command>,
        cwd: PathBuf,
        agent: musher::Session,
    ) -> Self {
        let translator = Translator::new(cwd, registry.editor_features(agent.state().editor.as_ref()))
            .with_mcp_login(registry.config.mcp_login.clone());
        let mut actor = Self {
            registry,
            starter,
            port,
            editor,
            commands,
            agent: AgentState::Ended(Box::new(agent.state())),
            states: None,
            first_model: None,
            translator,
            reported: ReportedState::default(),
            context: ContextUsage::default(),
            grants: SessionGrants::default(),
            prompts: PromptQueue::default(),
            running: None,
            turn: CancellationToken::new(),
            tasks: JoinSet::new(),
            is_introduced: false,
            closing: Vec::new(),
            is_agent_closed: false,
        };
        actor.adopt(agent);
        actor
    }

    /// Sends the stored conversation.
    pub(super) fn replay(&mut self) {
        let history = self.agent.state().history;
        let updates = self.translator.history(history.iter().map(|message| &**message));
        self.send(updates);
    }

    /// Returns the modes and options as they are now.
    pub(super) fn choices(&self) -> Choices {
        let snapshot = self.snapshot();
        (modes::modes(&snapshot.state.settings), snapshot.options())
    }

    /// Runs until the session is closed or the last handle is dropped.
    pub(super) async fn run(mut self) {
        while !self.is_over() {
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.handle(command),
                    None => return,
                },
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    if let Err(failed) = ended {
                        self.task_failed(&failed);
                    }
                }
                () = self.prompts.cancelled() => self.prompts.answer_cancelled(),
                // only the last state counts, so that a slow editor is sent fewer updates
                state = next_state(&self.editor, &mut self.states), if self.is_introduced => drop(self.report(&state)),
            }
        }
        for done in self.closing {
            // a request that was withdrawn needs no answer
            done.send(()).ok();
        }
    }

    fn is_over(&self) -> bool {
        self.is_agent_closed && self.running.is_none()
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Prompt(prompt) => self.prompt(prompt),
            Command::SetOption { option, value, reply } => {
                let registry = Arc::clone(&self.registry);
                self.operate(reply, move |port| async move {
                    operations::set_option(&port, &registry, &option, &value).await
                });
            }
            Command::SetTitle { title, reply } => {
                self.operate(reply, move |port| async move { operations::set_title(&port, &title).await });
            }
            Command::Fork { reply } => {
                self.operate(reply, |port| async move { operations::fork(&port).await });
            }
            Command::Introduce => {
                self.is_introduced = true;
                self.tasks.spawn(operations::introduce(self.port.clone()));
                self.watch_servers();
            }
            Command::Close { done } => self.close(done),
            Command::Agent { reply } => self.agent(reply),
            Command::AgentStarted(started) => self.agent_started(started),
            Command::AgentReplaced(agent) => self.adopt(*agent),
            Command::AgentLost => self.agent.lose(),
            Command::AgentClosed => self.is_agent_closed = true,
            Command::Snapshot { reply } => answer(reply, self.snapshot()),
            Command::TurnContext { reply } => answer(reply, self.turn_context()),
            Command::Event(event) => self.event(&event),
            Command::PromptEnded(ended) => self.prompt_ended(ended),
            Command::PermissionRequest { tool_uses, reply } => {
                let (updates, call) = self.translator.permission_request(&tool_uses);
                self.send(updates);
                answer(reply, call);
            }
            Command::Grants { reply } => answer(reply, self.grants.clone()),
            Command::Grant(grant) => self.grants.add(grant),
            Command::PlanEdited { call, plan } => {
                let updates = self.translator.edited_plan(&call, &plan);
                self.send(updates);
            }
            Command::TerminalOpened(id) => self.translator.opened_terminal(id),
            Command::Compaction { status, error } => {
                let updates = self.translator.compaction(status, error.as_deref());
                self.send(updates);
            }
            Command::ContextCounted { used, limit } => {
                let update = self.context.counted(used, limit);
                self.send(update);
            }
            Command::Servers(servers) => {
                let updates = self.translator.servers(&servers);
                self.send(updates);
            }
            Command::ReportState { reply } => {
                // the state of now: one that was queued would undo what was reported meanwhile
                let options = self.report(&self.agent.state());
                answer(reply, options);
            }
            Command::Update(update) => self.editor.update(*update),
        }
    }

    fn prompt(&mut self, prompt: QueuedPrompt) {
        if self.closing.is_empty() {
            self.prompts.push(prompt);
            self.next_prompt();
        } else {
            prompt.answer(Err(session_closed()));
        }
    }

    /// Starts the next prompt if none runs.
    fn next_prompt(&mut self) {
        if self.running.is_some() {
            return;
        }
        let Some(QueuedPrompt { parts, token, responder }) = self.prompts.pop() else { return };
        self.turn = token.clone();
        let task = PromptTask::new(
            self.port.clone(),
            Arc::clone(&self.registry),
            self.starter.clone(),
            self.editor.clone(),
            token.clone(),
        );
        let task = self.tasks.spawn(task.run(parts)).id();
        self.running = Some(RunningPrompt { task, token, responder });
    }

    /// Answers the running prompt, after everything that belongs to it.
    fn prompt_ended(&mut self, ended: Result<PromptResponse, Error>) {
        let Some(running) = self.running.take() else { return };
        let updates = self.translator.close();
        self.send(updates);
        running.answer(ended);
        self.next_prompt();
    }

    fn event(&mut self, event: &Event) {
        let updates = self.translator.event(event);
        self.send(updates);
        if let Event::Usage(usage) = event
            // not those of a subagent
            && usage.session_id.as_ref().is_none_or(|id| *id == self.agent.state().id)
        {
            let update = self.context.called(usage);
            self.send(update);
        }
    }

    /// Returns the agent to a task that waits for it. Starts it again if it has ended.
    fn agent(&mut self, reply: Reply<Result<musher::Session, Error>>) {
        if self.agent.running().is_some_and(has_ended) {
            self.agent.lose();
        }
        match &mut self.agent {
            AgentState::Running(agent) => answer(reply, Ok(agent.clone())),
            AgentState::Starting { waiting, .. } => waiting.push(reply),
            AgentState::Closed(_) => answer(reply, Err(session_closed())),
            AgentState::Ended(last) => {
                let id = last.id.to_string();
                tracing::warn!(session = %id, "the agent has ended: starting it again");
                let (starter, port) = (self.starter.clone(), self.port.clone());
                let start = async move {
                    let started = starter.resume(id).await;
                    let started = started.map(Box::new).map_err(|error| opening_error(&error));
                    port.send(Command::AgentStarted(started)).await;
                };
                let (task, last) = (self.tasks.spawn(start).id(), last.clone());
                self.agent = AgentState::Starting { task, last, waiting: vec![reply] };
            }
        }
    }

    fn agent_started(&mut self, started: Result<Box<musher::Session>, Error>) {
        let AgentState::Starting { waiting, .. } = &mut self.agent else { return };
        match started {
            Ok(agent) => {
                for reply in std::mem::take(waiting) {
                    answer(reply, Ok((*agent).clone()));
                }
                self.adopt(*agent);
            }
            Err(error) => self.agent.start_failed(&error),
        }
    }

    /// Takes over an agent that was started.
    fn adopt(&mut self, agent: musher::Session) {
        if matches!(self.agent, AgentState::Closed(_)) {
            // it ends when it is dropped
            return;
        }
        let mut states = agent.watch_state();
        let state = states.borrow_and_update().clone();
        if self.first_model.is_none() {
            self.first_model.clone_from(&state.settings.model_id);
        }
        self.states = Some(states);
        self.agent = AgentState::Running(agent);
        self.reported.begin(&state, self.snapshot().options());
        self.watch_servers();
    }

    /// Follows the states of the agent's MCP servers, as long as it runs.
    fn watch_servers(&mut self) {
        if let (true, Some(agent)) = (self.is_introduced, self.agent.running()) {
            // an agent with a login of its own reports that by itself
            let lists = self.registry.config.mcp_login.is_some();
            self.tasks.spawn(operations::watch_servers(self.port.clone(), agent.clone(), lists));
        }
    }

    fn snapshot(&self) -> Snapshot {
        let agent = self.agent.running().cloned();
        Snapshot { agent, state: self.agent.state(), first_model: self.first_model.clone() }
    }

    fn turn_context(&self) -> TurnContext {
        TurnContext {
            editor: self.editor.clone(),
            cancelled: self.turn.clone(),
            question_call: self.translator.open_call("AskUser").map(str::to_owned),
        }
    }

    /// Sends the changes in a state, and returns all options.
    fn report(&mut self, state: &SessionState) -> Vec<SessionConfigOption> {
        let options = modes::options(&state.settings, &models(state, self.first_model.as_ref()));
        let updates = self.reported.updates(state, options.clone());
        self.send(updates);
        options
    }

    /// Cancels all prompts and ends the agent; the task ends after both.
    fn close(&mut self, done: Reply<()>) {
        self.closing.push(done);
        self.prompts.answer_cancelled();
        if let Some(running) = &self.running {
            running.token.cancel();
        }
        if matches!(self.agent, AgentState::Closed(_)) {
            return;
        }
        let (agent, port) = (self.agent.close(), self.port.clone());
        self.tasks.spawn(async move {
            if let Some(agent) = agent {
                agent.close().await.ok();
            }
            port.send(Command::AgentClosed).await;
        });
    }

    /// Carries out a request in a task of its own.
    fn operate<T: Send + 'static, F: Future<Output = Result<T, Error>> + Send + 'static>(
        &mut self,
        reply: Reply<Result<T, Error>>,
        operation: impl FnOnce(SessionPort) -> F,
    ) {
        if self.tasks.len() >= MAX_OPERATIONS {
            return answer(
                reply,
                Err(explained(&Error::internal_error(), "too many requests are waiting in this session")),
            );
        }
        let operation = operation(self.port.clone());
        self.tasks.spawn(async move { answer(reply, operation.await) });
    }

    /// Ends what a task was for that panicked.
    fn task_failed(&mut self, failed: &JoinError) {
        tracing::error!(%failed, "a task of a session failed");
        let error = explained(&Error::internal_error(), failed.to_string());
        if self.running.as_ref().is_some_and(|running| running.task == failed.id()) {
            self.prompt_ended(Err(error));
        } else if matches!(&self.agent, AgentState::Starting { task, .. } if *task == failed.id()) {
            self.agent.start_failed(&error);
        } else if matches!(self.agent, AgentState::Closed(_)) {
            self.is_agent_closed = true;
        }
    }

    fn send(&self, updates: impl IntoIterator<Item = SessionUpdate>) {
        for update in updates {
            self.editor.update(update);
        }
    }
}

/// Answers a message. A sender that does not wait any more needs no answer.
fn answer<T>(reply: Reply<T>, value: T) {
    reply.send(value).ok();
}
