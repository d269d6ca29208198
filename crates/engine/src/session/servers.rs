//! The MCP servers of the open session: their changes, and the commands of clients about them.

use super::open;
use super::outbox::Outbox;
use super::state::Session;
use super::tasks::{SessionInput, SessionSender};
use crate::command::{CommandId, McpCommand, Reply};
use crate::mcp::{Mcp, McpTool};
use crate::{Error, Event};

impl Session {
    /// Reports changes of the servers for as long as the session is open.
    pub(super) fn watch_servers(&self, sender: SessionSender) {
        let (mut changes, cancel) = (self.mcp().changes(), self.cancelled().clone());
        tokio::spawn(async move {
            let watch = async {
                while changes.changed().await.is_ok() && sender.send(SessionInput::Servers).await {}
            };
            tokio::select! {
                () = cancel.cancelled() => {}
                () = watch => {}
            }
        });
    }

    /// Emits the state of the servers, unless clients know it.
    pub(super) fn report_servers(&mut self, out: &mut Outbox) {
        if let Some(event) = self.servers_mut().report() {
            out.push(Some(self.id().clone()), event);
        }
    }

    /// Answers a command once the servers are connected or have failed: a client that asks right after opening means its own servers,
    /// too.
    pub(super) fn reply_when_connected(
        &self,
        command_id: CommandId,
        sender: SessionSender,
        reply: impl FnOnce(&Mcp) -> Reply + Send + 'static,
    ) {
        let mcp = self.mcp().clone();
        tokio::spawn(async move {
            mcp.settled().await;
            sender.reply(command_id, Ok(reply(&mcp))).await;
        });
    }

    /// Handles a command about MCP servers. Returns the outcome, or `None` if a task answers later.
    pub(super) fn mcp_command(
        &self,
        command_id: CommandId,
        command: McpCommand,
        sender: SessionSender,
        out: &mut Outbox,
    ) -> Option<Result<Reply, Error>> {
        let mcp = self.mcp();
        Some(match command {
            McpCommand::ListServers => Ok(Reply::McpServers(mcp.servers())),
            McpCommand::ListRegistry => Ok(Reply::McpServers(Vec::new())),
            McpCommand::Authenticate { server } => mcp.authenticate(&server).map(|()| Reply::Success(true)),
            McpCommand::CancelAuthentication { server } => {
                let (outcome, message) = ("cancelled".to_owned(), "The login was cancelled".to_owned());
                let event = Event::McpAuthentication { server, outcome, message };
                out.push(Some(self.id().clone()), event);
                Ok(Reply::Success(true))
            }
            McpCommand::ClearAuthentication { server } => {
                mcp.clear_authentication(&server).map(|()| Reply::Success(true))
            }
            McpCommand::SubmitCode { .. } | McpCommand::SubmitError { .. } => {
                Ok(Reply::Success(mcp.submit_authentication()))
            }
            McpCommand::ListTools => {
                // a client that lists tools right after opening wants those of its own servers, too
                let tools = |mcp: &Mcp| Reply::McpTools(mcp.tools().iter().map(McpTool::view).collect());
                self.reply_when_connected(command_id, sender, tools);
                return None;
            }
            slow => {
                change_servers(mcp.clone(), command_id, slow, sender);
                return None;
            }
        })
    }
}

/// Runs a command that connects servers or writes files, in a task.
fn change_servers(mcp: Mcp, command_id: CommandId, command: McpCommand, sender: SessionSender) {
    tokio::spawn(async move {
        let done = match &command {
            McpCommand::Add(server) => mcp.add(&server.name, &open::transport(server)).await,
            McpCommand::Remove { server } => mcp.remove(server).await,
            McpCommand::Toggle { server, enabled } => mcp.toggle(server, *enabled).await,
            McpCommand::ToggleTool { server, tool, enabled } => mcp.toggle_tool(server, tool, *enabled).await,
            _ => Ok(()),
        };
        sender.reply(command_id, done.map(|()| Reply::Success(true))).await;
    });
}

/// Returns the outcome of a command about MCP servers when no session is open: no server is started then.
pub(super) fn without_session(command: &McpCommand) -> Result<Reply, Error> {
    match command {
        McpCommand::ListServers | McpCommand::ListRegistry => Ok(Reply::McpServers(Vec::new())),
        McpCommand::ListTools => Ok(Reply::McpTools(Vec::new())),
        _ => Err(Error::NoSession),
    }
}
