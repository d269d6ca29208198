//! One session of the editor: a task owns its state, and a [`SessionHandle`] sends it messages.
//!
//! The session outlives the agent's process: when that dies, the running prompt fails, and the next request starts the agent
//! again with the history. All updates are sent by the session's task, in the order in which it learns of the changes. A
//! cancellation does not pass through the task's queue, so a full queue cannot delay it.

mod actor;
mod agent;
mod command;
mod editor_connection;
mod failure;
mod operations;
mod port;
mod prompt;
mod prompt_queue;
mod questions;
mod reported;
mod slash_commands;
mod unsaved;

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    PromptRequest, PromptResponse, SessionConfigOption, SessionId, SessionModeState,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Client, Error};
use musher::CancellationToken;
use musher::wire::McpServerConfig;
use tokio::sync::{mpsc, oneshot, watch};

use crate::convert::content;
use crate::registry::Registry;
use actor::SessionActor;
use agent::AgentStarter;
use command::{Command, Reply};
pub(crate) use editor_connection::EditorConnection;
use failure::{opening_error, session_closed};
pub(crate) use port::SessionPort;
use prompt_queue::QueuedPrompt;

/// How many messages may wait for a session's task.
const MAX_QUEUED_COMMANDS: usize = 256;

/// Where a session comes from.
#[derive(Debug)]
pub(crate) enum Origin {
    /// A new session.
    New { cwd: PathBuf },
    /// A stored session.
    Stored { id: SessionId, cwd: PathBuf },
    /// A fork of a stored session.
    Fork { id: SessionId, cwd: PathBuf },
}

/// What the editor sets up for a session.
#[derive(Debug, Default)]
pub(crate) struct SessionSetup {
    pub(crate) servers: Vec<McpServerConfig>,
    /// Additional directories of the workspace; `None` keeps those the session had.
    pub(crate) directories: Option<Vec<PathBuf>>,
}

/// The modes and options of a session.
pub(crate) type Choices = (SessionModeState, Vec<SessionConfigOption>);

/// A session that was opened, with its modes and options at that moment.
pub(crate) struct OpenedSession {
    pub(crate) session: SessionHandle,
    pub(crate) choices: Choices,
}

/// Sends messages to the task of a session. The task ends after `close`, or when all handles are gone.
#[derive(Debug, Clone)]
pub(crate) struct SessionHandle {
    id: SessionId,
    commands: mpsc::Sender<Command>,
    /// The parent of the cancellation tokens of all prompts that arrive before the next cancellation.
    cancellation: watch::Sender<CancellationToken>,
}

impl SessionHandle {
    /// Starts an agent and opens the session in it. `replay` sends the stored conversation to the editor.
    pub(crate) async fn open(
        registry: Arc<Registry>,
        connection: ConnectionTo<Client>,
        origin: Origin,
        mut setup: SessionSetup,
        replay: bool,
    ) -> Result<OpenedSession, Error> {
        if !registry.config.additional_directories {
            setup.directories = None;
        }
        let (commands, received) = mpsc::channel(MAX_QUEUED_COMMANDS);
        let port = SessionPort::new(&commands);
        let starter = AgentStarter::new(Arc::clone(&registry), port.clone(), setup);
        let (cwd, id, agent) = match origin {
            Origin::New { cwd } => {
                let agent = starter.start(cwd.clone()).await?;
                (cwd, SessionId::new(agent.id().to_string()), agent)
            }
            Origin::Stored { id, cwd } | Origin::Fork { id, cwd } => {
                let agent = starter.resume(id.0.to_string()).await.map_err(|error| opening_error(&error))?;
                (cwd, id, agent)
            }
        };
        let editor = EditorConnection::new(id.clone(), connection, registry.link.clone());
        let mut actor = SessionActor::new(registry, starter, port, editor, received, cwd, agent);
        if replay {
            actor.replay();
        }
        let choices = actor.choices();
        tokio::spawn(actor.run());
        let session = Self { id, commands, cancellation: watch::Sender::new(CancellationToken::new()) };
        Ok(OpenedSession { session, choices })
    }

    /// Returns the id under which the editor knows the session.
    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns whether the session's task has ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.commands.is_closed()
    }

    /// Queues a prompt without waiting. The session's task answers it; a dropped responder answers with an error.
    ///
    /// Returns the token that cancels it.
    pub(crate) fn prompt(
        &self,
        request: &PromptRequest,
        responder: Responder<PromptResponse>,
    ) -> CancellationToken {
        let token = self.cancellation.borrow().child_token();
        let parts = match content::parts(&request.prompt) {
            Ok(parts) => parts,
            Err(error) => {
                // an editor that is gone needs no answer
                responder.respond_with_error(error).ok();
                token.cancel();
                return token;
            }
        };
        let prompt = QueuedPrompt { parts, token: token.clone(), responder };
        if let Err(mpsc::error::TrySendError::Full(Command::Prompt(prompt))) =
            self.commands.try_send(Command::Prompt(prompt))
        {
            prompt.refuse();
        }
        token
    }

    /// Cancels every prompt that has arrived, and none that arrives later.
    pub(crate) fn cancel(&self) {
        self.cancellation.send_replace(CancellationToken::new()).cancel();
    }

    /// Sends the editor what it did not have to wait for: the slash commands, the title, the size of the context.
    pub(crate) async fn introduce(&self) {
        // a session that has ended has nothing to send
        self.commands.send(Command::Introduce).await.ok();
    }

    /// Sets an option, and returns all options.
    pub(crate) async fn set_option(
        &self,
        option: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<Vec<SessionConfigOption>, Error> {
        let (option, value) = (option.into(), value.into());
        self.call(|reply| Command::SetOption { option, value, reply }).await?
    }

    /// Sets the title.
    pub(crate) async fn set_title(&self, title: String) -> Result<(), Error> {
        self.call(|reply| Command::SetTitle { title, reply }).await?
    }

    /// Forks the stored session, and returns the id of the fork.
    pub(crate) async fn fork(&self) -> Result<SessionId, Error> {
        self.call(|reply| Command::Fork { reply }).await?
    }

    /// Returns the id under which the agent knows the session: another one after a compaction.
    pub(crate) async fn agent_session_id(&self) -> Option<String> {
        Some(self.call(|reply| Command::Snapshot { reply }).await.ok()?.state.id.to_string())
    }

    /// Cancels all prompts and ends the agent. Returns when both are done.
    pub(crate) async fn close(&self) {
        self.cancel();
        // a task that has ended has closed the session already
        self.call(|done| Command::Close { done }).await.ok();
    }

    async fn call<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_ended| session_closed())?;
        answer.await.map_err(|_ended| session_closed())
    }
}
