//! The way from the tasks of a session, and from its agent's handlers, to the task that owns the session's state.
//!
//! A port does not keep the session alive.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    CompactionStatus, ContentBlock, ContentChunk, SessionConfigOption, SessionUpdate, ToolCallUpdate,
};
use musher::wire::PermissionToolUse;
use musher::{Event, SessionGrants};
use tokio::sync::{mpsc, oneshot};

use super::command::{Command, Reply, Snapshot, TurnContext};
use super::editor_connection::EditorConnection;
use super::failure::session_closed;

/// Sends messages to the task of a session.
#[derive(Debug, Clone)]
pub(crate) struct SessionPort(mpsc::WeakSender<Command>);

impl SessionPort {
    pub(super) fn new(commands: &mpsc::Sender<Command>) -> Self {
        Self(commands.downgrade())
    }

    /// Returns the agent. Starts it again with the history if it has ended.
    pub(super) async fn agent(&self) -> Result<musher::Session, Error> {
        self.call(|reply| Command::Agent { reply }).await?
    }

    pub(super) async fn snapshot(&self) -> Result<Snapshot, Error> {
        self.call(|reply| Command::Snapshot { reply }).await
    }

    pub(super) async fn turn_context(&self) -> Result<TurnContext, Error> {
        self.call(|reply| Command::TurnContext { reply }).await
    }

    /// Returns the connection to the editor, unless the session has ended.
    pub(crate) async fn editor(&self) -> Option<EditorConnection> {
        Some(self.turn_context().await.ok()?.editor)
    }

    /// Records that the editor opened a terminal, before the agent can show it.
    pub(crate) async fn terminal_opened(&self, id: String) {
        self.send(Command::TerminalOpened(id)).await;
    }

    pub(super) async fn event(&self, event: Event) {
        self.send(Command::Event(Box::new(event))).await;
    }

    pub(super) async fn permission_request(
        &self,
        tool_uses: Vec<PermissionToolUse>,
    ) -> Option<ToolCallUpdate> {
        self.call(|reply| Command::PermissionRequest { tool_uses, reply }).await.ok()?
    }

    /// Returns what the user has allowed for the rest of the session.
    pub(super) async fn grants(&self) -> SessionGrants {
        self.call(|reply| Command::Grants { reply }).await.unwrap_or_default()
    }

    pub(super) async fn compaction(&self, status: CompactionStatus, error: Option<&str>) {
        self.send(Command::Compaction { status, error: error.map(str::to_owned) }).await;
    }

    pub(super) async fn report_state(&self) -> Result<Vec<SessionConfigOption>, Error> {
        self.call(|reply| Command::ReportState { reply }).await
    }

    /// Sends a message that looks like the agent's own.
    pub(super) async fn agent_message(&self, text: String) {
        let chunk = ContentChunk::new(ContentBlock::from(text));
        self.send(Command::Update(Box::new(SessionUpdate::AgentMessageChunk(chunk)))).await;
    }

    /// Sends a message. A session that has ended needs none.
    pub(super) async fn send(&self, command: Command) {
        if let Some(commands) = self.0.upgrade() {
            commands.send(command).await.ok();
        }
    }

    async fn call<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.send(command(reply)).await;
        answer.await.map_err(|_ended| session_closed())
    }
}
