//! The messages that the task of a session receives: from the editor's requests, and from the tasks that it started itself.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    CompactionStatus, PromptResponse, SessionConfigOption, SessionId, SessionUpdate, ToolCallUpdate,
};
use musher::wire::{McpServerInfo, ModelInfo, PermissionToolUse};
use musher::{CancellationToken, Event, SessionGrant, SessionGrants, SessionState};
use tokio::sync::oneshot;

use super::editor_connection::EditorConnection;
use super::prompt_queue::QueuedPrompt;
use crate::modes;

/// Where a message is answered.
pub(super) type Reply<T> = oneshot::Sender<T>;

/// A message to the task of a session.
#[derive(Debug)]
pub(super) enum Command {
    /// Run a prompt after those before it.
    Prompt(QueuedPrompt),
    /// Set an option; the reply has all options.
    SetOption { option: String, value: String, reply: Reply<Result<Vec<SessionConfigOption>, Error>> },
    /// Set the title.
    SetTitle { title: String, reply: Reply<Result<(), Error>> },
    /// Fork the stored session.
    Fork { reply: Reply<Result<SessionId, Error>> },
    /// Send the editor what it did not have to wait for.
    Introduce,
    /// End the agent, then the task.
    Close { done: Reply<()> },

    /// Return the agent; start it again if it has ended.
    Agent { reply: Reply<Result<musher::Session, Error>> },
    /// The agent was started again, or could not be.
    AgentStarted(Result<Box<musher::Session>, Error>),
    /// From now on the session is in this agent.
    AgentReplaced(Box<musher::Session>),
    /// The connection to the agent failed.
    AgentLost,
    /// The agent was closed at the end of the session.
    AgentClosed,
    /// Return what is known about the agent.
    Snapshot { reply: Reply<Snapshot> },
    /// Return what a request to the editor needs.
    TurnContext { reply: Reply<TurnContext> },

    /// An event of the running turn.
    Event(Box<Event>),
    /// The running prompt has ended so.
    PromptEnded(Result<PromptResponse, Error>),
    /// Announce the calls of a permission request; the reply is the call to show with it.
    PermissionRequest { tool_uses: Vec<PermissionToolUse>, reply: Reply<Option<ToolCallUpdate>> },
    /// Return what the user has allowed for the rest of the session.
    Grants { reply: Reply<SessionGrants> },
    /// The user has allowed something for the rest of the session.
    Grant(SessionGrant),
    /// Show an edited plan.
    PlanEdited { call: String, plan: String },
    /// The editor opened a terminal.
    TerminalOpened(String),
    /// A compaction started or ended.
    Compaction { status: CompactionStatus, error: Option<String> },
    /// The agent counted the tokens of the context.
    ContextCounted { used: u64, limit: u64 },
    /// The MCP servers of the agent have these states.
    Servers(Vec<McpServerInfo>),
    /// Send the changes in the current state of the agent; the reply has all options.
    ReportState { reply: Reply<Vec<SessionConfigOption>> },
    /// Send an update unchanged.
    Update(Box<SessionUpdate>),
}

/// What is known about the agent of a session.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// The agent, unless it is known to have ended.
    pub(super) agent: Option<musher::Session>,
    /// Its state, or its last one.
    pub(super) state: SessionState,
    /// The model it began with, which need not be in the agent's list.
    pub(super) first_model: Option<String>,
}

impl Snapshot {
    /// Returns the models to choose from, with the one the session began with, so that the user can go back to it.
    pub(super) fn models(&self) -> Vec<ModelInfo> {
        models(&self.state, self.first_model.as_ref())
    }

    /// Returns all options.
    pub(super) fn options(&self) -> Vec<SessionConfigOption> {
        modes::options(&self.state.settings, &self.models())
    }
}

/// See [`Snapshot::models`].
pub(super) fn models(state: &SessionState, first_model: Option<&String>) -> Vec<ModelInfo> {
    let missing = first_model.filter(|first| state.models.iter().all(|model| model.id != **first));
    let missing = missing.map(|first| ModelInfo::new(first.clone()));
    missing.into_iter().chain(state.models.iter().cloned()).collect()
}

/// What a request to the editor on behalf of a turn needs.
#[derive(Debug)]
pub(super) struct TurnContext {
    pub(super) editor: EditorConnection,
    /// Cancelled with the turn.
    pub(super) cancelled: CancellationToken,
    /// The open call that asks the user.
    pub(super) question_call: Option<String>,
}
