//! MCP servers of the session that is open: their news, and what clients want of them.

use super::actor::Actor;
use super::children::{FromSession, FromTurn, Input};
use super::open;
use crate::command::{McpCommand, Reply, Ticket};
use crate::mcp::Mcp;
use crate::{Error, Happening};

impl Actor {
    /// Passes on the news of the servers for as long as the session is open.
    pub(super) fn watch_servers(&self) {
        let Some(session) = &self.session else { return };
        let (number, inputs) = (session.number, self.inputs.clone());
        let (mut changes, cancel) = (session.mcp.changes(), session.cancel.clone());
        tokio::spawn(async move {
            let watch = async {
                while changes.changed().await.is_ok() {
                    let news = Input::Session { session: number, what: FromSession::Servers };
                    if inputs.send(news).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                () = cancel.cancelled() => {}
                () = watch => {}
            }
        });
    }

    pub(super) fn servers_changed(&mut self) {
        let Some(session) = &mut self.session else { return };
        let servers = session.mcp.servers();
        if session.told_servers.as_ref() != Some(&servers) {
            session.told_servers = Some(servers.clone());
            self.emit(Happening::McpStatus(servers));
        }
    }

    /// Whether the servers have to be waited for before the model is asked. Begins the wait.
    pub(super) fn waits_for_servers(&mut self) -> bool {
        let Some(session) = &mut self.session else { return false };
        if std::mem::replace(&mut session.is_settled, true) {
            return false;
        }
        let mcp = session.mcp.clone();
        let call = self.turns.running().map_or(0, |running| running.turn.model_calls());
        let Some((back, cancel)) = self.child() else { return false };
        back.clone().spawn(async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = mcp.settled() => { back.send(FromTurn::Ready { call }).await; }
            }
        });
        true
    }

    /// The servers are there: now the model is asked.
    pub(super) fn servers_ready(&mut self, call: usize) {
        let running = self.turns.running();
        if running.is_some_and(|running| running.turn.model_calls() == call && !running.turn.is_over()) {
            self.call_model();
        }
    }

    pub(super) fn mcp(&mut self, ticket: Ticket, command: McpCommand) {
        let Some(session) = &self.session else { return self.reply(ticket, without_session(&command)) };
        let mcp = session.mcp.clone();
        let outcome = match command {
            McpCommand::ListServers => Ok(Reply::McpServers(mcp.servers())),
            McpCommand::ListRegistry => Ok(Reply::McpServers(Vec::new())),
            McpCommand::Authenticate { server } => mcp.authenticate(&server).map(|()| Reply::Success(true)),
            McpCommand::CancelAuthentication { server } => {
                let (outcome, message) = ("cancelled".to_owned(), "The login was cancelled".to_owned());
                self.emit(Happening::McpAuthentication { server, outcome, message });
                Ok(Reply::Success(true))
            }
            McpCommand::ClearAuthentication { server } => {
                mcp.clear_authentication(&server).map(|()| Reply::Success(true))
            }
            McpCommand::SubmitCode { .. } | McpCommand::SubmitError { .. } => {
                Ok(Reply::Success(mcp.submit_authentication()))
            }
            slow => return self.in_the_background(ticket, mcp, slow),
        };
        self.reply(ticket, outcome);
    }

    /// Answers once the servers have been reached or not: a client that asks right after opening means theirs, too.
    pub(super) fn when_settled(&self, ticket: Ticket, answer: impl FnOnce(&Mcp) -> Reply + Send + 'static) {
        let Some(session) = &self.session else { return };
        let (number, inputs, mcp) = (session.number, self.inputs.clone(), session.mcp.clone());
        tokio::spawn(async move {
            mcp.settled().await;
            let what = FromSession::Reply { ticket, outcome: Ok(answer(&mcp)) };
            inputs.send(Input::Session { session: number, what }).await.ok();
        });
    }

    /// What takes a while: servers connect, files are written, servers are started and ended.
    fn in_the_background(&mut self, ticket: Ticket, mcp: Mcp, command: McpCommand) {
        let Some(session) = &self.session else { return };
        let (number, inputs) = (session.number, self.inputs.clone());
        tokio::spawn(async move {
            let done = match &command {
                McpCommand::ListTools => {
                    // a client that lists them right after it has opened the session wants to see those of its own servers
                    mcp.settled().await;
                    let tools = mcp.tools().iter().map(crate::mcp::McpTool::view).collect();
                    let what = FromSession::Reply { ticket, outcome: Ok(Reply::McpTools(tools)) };
                    inputs.send(Input::Session { session: number, what }).await.ok();
                    return;
                }
                McpCommand::Add(server) => mcp.add(&server.name, &open::transport(server)).await,
                McpCommand::Remove { server } => mcp.remove(server).await,
                McpCommand::Toggle { server, enabled } => mcp.toggle(server, *enabled).await,
                McpCommand::ToggleTool { server, tool, enabled } => {
                    mcp.toggle_tool(server, tool, *enabled).await
                }
                _ => Ok(()),
            };
            let outcome = done.map(|()| Reply::Success(true));
            let what = FromSession::Reply { ticket, outcome };
            inputs.send(Input::Session { session: number, what }).await.ok();
        });
    }
}

/// Before a session is open no server is started, so there is none to tell of.
fn without_session(command: &McpCommand) -> Result<Reply, Error> {
    match command {
        McpCommand::ListServers | McpCommand::ListRegistry => Ok(Reply::McpServers(Vec::new())),
        McpCommand::ListTools => Ok(Reply::McpTools(Vec::new())),
        _ => Err(Error::NoSession),
    }
}
