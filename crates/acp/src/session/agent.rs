//! The agent behind a session: started, resumed with the history, and watched.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use agent_client_protocol::Error;
use musher::{Answers, Decision, PermissionRequest, QuestionRequest, SessionState};
use tokio::sync::watch;
use tokio::task;

use super::command::Reply;
use super::editor_connection::EditorConnection;
use super::failure::{internal, opening_error, session_closed};
use super::questions::Questioner;
use super::{SessionPort, SessionSetup};
use crate::editor::SessionEditor;
use crate::modes;
use crate::registry::{Registry, not_absolute};

/// The agent of a session, as its task knows it.
#[derive(Debug)]
pub(super) enum AgentState {
    /// It runs, unless it has ended unnoticed.
    Running(musher::Session),
    /// It has ended; this was its last state.
    Ended(Box<SessionState>),
    /// It is being started again.
    Starting { task: task::Id, last: Box<SessionState>, waiting: Vec<Reply<Result<musher::Session, Error>>> },
    /// The session is closed.
    Closed(Box<SessionState>),
}

impl AgentState {
    /// Returns the state of the agent, or its last one.
    pub(super) fn state(&self) -> SessionState {
        match self {
            Self::Running(agent) => agent.state(),
            Self::Ended(last) | Self::Starting { last, .. } | Self::Closed(last) => (**last).clone(),
        }
    }

    /// Returns the agent, if it is not known to have ended.
    pub(super) fn running(&self) -> Option<&musher::Session> {
        match self {
            Self::Running(agent) => Some(agent),
            _ => None,
        }
    }

    /// Gives up an agent that runs.
    pub(super) fn lose(&mut self) {
        if let Self::Running(agent) = self {
            *self = Self::Ended(Box::new(agent.state()));
        }
    }

    /// Ends the wait for an agent that could not be started.
    pub(super) fn start_failed(&mut self, error: &Error) {
        if let Self::Starting { last, waiting, .. } = self {
            for reply in waiting.drain(..) {
                // a task that was cancelled needs no answer
                reply.send(Err(error.clone())).ok();
            }
            *self = Self::Ended(last.clone());
        }
    }

    /// Closes the session; returns the agent that has to be closed with it.
    pub(super) fn close(&mut self) -> Option<musher::Session> {
        self.start_failed(&session_closed());
        let closed = Self::Closed(Box::new(self.state()));
        match std::mem::replace(self, closed) {
            Self::Running(agent) => Some(agent),
            _ => None,
        }
    }
}

/// Returns whether there is a model. An agent without any opens a session all the same.
pub(super) fn has_model(agent: &musher::Session) -> bool {
    agent.state().settings.model_id.is_none_or(|model| !model.is_empty())
}

/// Returns whether the agent behind a session has ended.
pub(super) fn has_ended(agent: &musher::Session) -> bool {
    agent.watch_state().has_changed().is_err()
}

/// Waits for the next state of the agent, and until the editor has read enough for its updates.
pub(super) async fn next_state(
    editor: &EditorConnection,
    states: &mut Option<watch::Receiver<SessionState>>,
) -> SessionState {
    editor.room().await;
    if let Some(receiver) = states {
        if receiver.changed().await.is_ok() {
            return receiver.borrow_and_update().clone();
        }
        *states = None;
    }
    std::future::pending().await
}

/// Starts the agents of a session.
#[derive(Debug, Clone)]
pub(super) struct AgentStarter {
    registry: Arc<Registry>,
    port: SessionPort,
    setup: Arc<SessionSetup>,
}

impl AgentStarter {
    pub(super) fn new(registry: Arc<Registry>, port: SessionPort, setup: SessionSetup) -> Self {
        Self { registry, port, setup: Arc::new(setup) }
    }

    /// Starts the agent with a new session.
    pub(super) async fn start(&self, cwd: PathBuf) -> Result<musher::Session, Error> {
        if !cwd.is_absolute() {
            return Err(not_absolute(&cwd));
        }
        let requested = self.registry.model(&cwd).await;
        let handler = self.handler();
        let mut builder = musher::Session::builder()
            .agent(self.registry.agent())
            .cwd(cwd)
            .permission_handler(handler.clone())
            .question_handler(handler);
        if let Some(editor) = self.editor() {
            builder = builder.editor(editor);
        }
        builder = self.setup.servers.iter().cloned().fold(builder, musher::SessionBuilder::mcp_server);
        builder.params_mut().additional_directories = self.directories();
        if let Some(model) = &requested {
            builder = builder.model(model.clone());
        }
        let agent = builder.open().await.map_err(|error| opening_error(&error))?;
        if !has_model(&agent) {
            agent.close().await.ok();
            return Err(self.registry.no_model());
        }
        let has = agent.state().settings.model_id;
        if let (Some(requested), Some(has)) = (requested, has)
            && has != requested
        {
            // another model in its place could cost more, or read what this one may not
            let models = agent.state().models;
            agent.close().await.ok();
            return Err(modes::unknown_model(&requested, &models));
        }
        Ok(agent)
    }

    /// Starts the agent with a stored session.
    pub(super) async fn resume(&self, id: String) -> musher::Result<musher::Session> {
        let handler = self.handler();
        let mut builder = musher::Session::resume(id)
            .agent(self.registry.agent())
            .permission_handler(handler.clone())
            .question_handler(handler);
        if let Some(editor) = self.editor() {
            builder = builder.editor(editor);
        }
        builder.params_mut().additional_directories = self.directories();
        self.setup.servers.iter().cloned().fold(builder, musher::ResumeBuilder::mcp_server).open().await
    }

    /// Forks the session that an agent is in.
    pub(super) async fn fork(agent: &musher::Session) -> Result<String, Error> {
        let forked = agent.client().fork_session(musher::wire::ForkSessionParams::default()).await;
        Ok(forked.map_err(|error| internal(&error))?.new_session_id)
    }

    /// Returns the files and terminals that the editor announced.
    fn editor(&self) -> Option<SessionEditor> {
        SessionEditor::new(self.port.clone(), &self.registry.client())
    }

    /// Additional directories of the workspace, as they go over the wire.
    fn directories(&self) -> Option<Vec<String>> {
        let directories = self.setup.directories.as_ref()?;
        Some(directories.iter().map(|directory| directory.to_string_lossy().into_owned()).collect())
    }

    fn handler(&self) -> Handler {
        let has_forms = self.registry.client().elicitation.is_some_and(|can| can.supports_form());
        Handler(Questioner::new(self.port.clone(), has_forms))
    }
}

/// Passes the agent's requests on to the user of the editor.
#[derive(Debug, Clone)]
struct Handler(Questioner);

impl musher::PermissionHandler for Handler {
    fn decide(&self, request: PermissionRequest) -> Pin<Box<dyn Future<Output = Decision> + Send>> {
        let questioner = self.0.clone();
        Box::pin(async move { questioner.decide(request).await })
    }
}

impl musher::QuestionHandler for Handler {
    fn answer(&self, request: QuestionRequest) -> Pin<Box<dyn Future<Output = Answers> + Send>> {
        let questioner = self.0.clone();
        Box::pin(async move { questioner.answer(request).await })
    }
}
