//! The MCP servers of the open session: their changes, and the commands of clients about them.

use super::outbox::Outbox;
use super::state::Session;
use super::tasks::{SessionInput, SessionSender};
use crate::command::{CommandId, McpCommand, Reply};
use crate::mcp::{LoginFailure, Mcp, McpTool, PendingLogin};
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
            McpCommand::Authenticate { server } => {
                authenticate(mcp.clone(), command_id, server, sender);
                return None;
            }
            McpCommand::CancelAuthentication { server } => {
                mcp.cancel_authentication(&server);
                let (outcome, message) = ("cancelled".to_owned(), "Authentication cancelled".to_owned());
                let event = Event::McpAuthentication { server, outcome, message };
                out.push(Some(self.id().clone()), event);
                Ok(Reply::Success(true))
            }
            McpCommand::SubmitCode { server, code, state } => {
                Ok(Reply::Success(mcp.submit_code(&server, &code, &state)))
            }
            McpCommand::SubmitError { server, error, description, state } => {
                Ok(Reply::Success(mcp.submit_error(&server, &error, description, &state)))
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
            McpCommand::Add(server) => {
                mcp.add(&server.name, &server.transport.clone().into(), server.oauth.as_ref()).await
            }
            McpCommand::ClearAuthentication { server } => mcp.clear_authentication(server).await,
            McpCommand::Remove { server } => mcp.remove(server).await,
            McpCommand::Toggle { server, enabled } => mcp.toggle(server, *enabled).await,
            McpCommand::ToggleTool { server, tool, enabled } => mcp.toggle_tool(server, tool, *enabled).await,
            _ => Ok(()),
        };
        sender.reply(command_id, done.map(|()| Reply::Success(true)).map_err(Error::from)).await;
    });
}

/// Logs the user in, in a task: the reply follows when the login has ended.
fn authenticate(mcp: Mcp, command_id: CommandId, server: String, sender: SessionSender) {
    tokio::spawn(async move {
        let announce = async |login: PendingLogin| {
            let event = Event::McpLogin { server: server.clone(), login };
            sender.send(SessionInput::Announce(Box::new(event))).await;
        };
        let outcome = mcp.authenticate(&server, announce).await;
        let completed = |outcome: &str, message: &str| {
            let (outcome, message) = (outcome.to_owned(), message.to_owned());
            Event::McpAuthentication { server: server.clone(), outcome, message }
        };
        let failed = |why: &str| Error::Internal(format!("Authentication failed for {server}: {why}"));
        let (event, reply) = match outcome {
            Ok(()) => (Some(completed("success", "Authentication successful")), Ok(Reply::Success(true))),
            Err(LoginFailure::Impossible(why)) => (None, Err(Error::Internal(why))),
            // the command that cancelled it has said so
            Err(LoginFailure::Cancelled) => (None, Err(failed("it was cancelled"))),
            Err(LoginFailure::Failed(why)) => {
                (Some(completed("failed", &format!("Authentication failed: {why}"))), Err(failed(&why)))
            }
        };
        if let Some(event) = event {
            sender.send(SessionInput::Announce(Box::new(event))).await;
        }
        sender.reply(command_id, reply).await;
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
