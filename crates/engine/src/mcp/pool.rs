//! The servers and their states: opens, monitors, closes and reopens connections.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use musher_tools::ToolOutput;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Tool};
use rmcp::service::ServiceError;
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::Connection;
use super::http::Client;
use super::manager::Options;
use super::output;
use super::tool::is_enabled;
use crate::ServerView;
use crate::config::{Level, McpServer, Transport};

/// The servers of a session.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) options: Options,
    // locked briefly, never across an await
    servers: Mutex<Vec<Entry>>,
    pub(super) changes: watch::Sender<u64>,
    pub(super) tasks: TaskTracker,
    pub(super) root: CancellationToken,
    client: OnceLock<Client>,
}

/// A server and its state.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) server: McpServer,
    pub(super) state: State,
    /// The number of the attempt; results of former attempts are ignored.
    attempt: u64,
    stop: CancellationToken,
    /// The times of restarts after failures.
    restarts: Vec<Instant>,
}

/// The state of a server.
#[derive(Debug)]
pub(super) enum State {
    Disabled,
    Connecting,
    Connected { peer: Peer<RoleClient>, tools: Arc<[Tool]> },
    Failed(String),
}

/// The maximum number of restarts within a minute.
pub(super) const MAX_RESTARTS: usize = 3;
const RESTART_WINDOW: Duration = Duration::from_mins(1);
/// The maximum time to wait for the reason of a program's end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(4);

impl Pool {
    pub(super) fn new(options: Options, root: CancellationToken) -> Self {
        Self {
            options,
            servers: Mutex::default(),
            changes: watch::Sender::new(0),
            tasks: TaskTracker::new(),
            root,
            client: OnceLock::new(),
        }
    }

    /// Adds a server, or replaces the one with the same name.
    pub(super) fn put(self: &Arc<Self>, server: McpServer) {
        let mut servers = self.lock();
        let index = servers.iter().position(|entry| entry.server.name == server.name);
        let mut entry = Entry {
            state: State::Disabled,
            attempt: 0,
            stop: self.root.child_token(),
            restarts: Vec::new(),
            server,
        };
        if let Some(index) = index {
            entry.attempt = servers[index].attempt + 1;
        }
        if !entry.server.is_disabled {
            self.begin(&mut entry);
        }
        match index {
            Some(index) => std::mem::replace(&mut servers[index], entry).stop.cancel(),
            None => servers.push(entry),
        }
        drop(servers);
        self.changed();
    }

    pub(super) fn take_out(&self, name: &str) {
        let mut servers = self.lock();
        if let Some(index) = servers.iter().position(|entry| entry.server.name == name) {
            servers.remove(index).stop.cancel();
        }
        drop(servers);
        self.changed();
    }

    pub(super) fn switch(self: &Arc<Self>, name: &str, enabled: bool) {
        let mut servers = self.lock();
        if let Some(entry) = servers.iter_mut().find(|entry| entry.server.name == name) {
            entry.server.is_disabled = !enabled;
            let is_up = matches!(entry.state, State::Connecting | State::Connected { .. });
            if enabled && !is_up {
                entry.restarts.clear();
                self.begin(entry);
            } else if !enabled {
                entry.stop.cancel();
                entry.attempt += 1;
                entry.state = State::Disabled;
            }
        }
        drop(servers);
        self.changed();
    }

    /// Starts to connect.
    fn begin(self: &Arc<Self>, entry: &mut Entry) {
        entry.attempt += 1;
        entry.stop = self.root.child_token();
        entry.state = State::Connecting;
        let pool = Arc::clone(self);
        let (server, attempt, stop) = (entry.server.clone(), entry.attempt, entry.stop.clone());
        self.tasks.spawn(async move { pool.run(server, attempt, stop).await });
    }

    /// Runs one connection until it ends.
    async fn run(self: Arc<Self>, server: McpServer, attempt: u64, stop: CancellationToken) {
        let client = || self.client.get_or_init(Client::new).clone();
        let opening = Connection::open(&server, &self.options, client, &stop);
        let opened = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            opened = opening => opened,
        };
        let name = server.name.as_str();
        let connection = match opened {
            Ok(connection) => connection,
            Err(error) => {
                tracing::warn!(server = name, error, "an MCP server does not work");
                return self.set(name, attempt, State::Failed(error));
            }
        };
        let peer = connection.peer.clone();
        let tools = Arc::clone(&connection.tools);
        self.set(name, attempt, State::Connected { peer: peer.clone(), tools });
        let news = |tools| self.set(name, attempt, State::Connected { peer: peer.clone(), tools });
        if let Some(why) = connection.keep(&stop, news).await {
            tracing::warn!(server = name, why, "an MCP server is gone");
            self.set(name, attempt, State::Failed(why));
        }
    }

    fn set(&self, name: &str, attempt: u64, state: State) {
        let mut servers = self.lock();
        let entry = servers.iter_mut().find(|entry| entry.server.name == name && entry.attempt == attempt);
        if let Some(entry) = entry {
            entry.state = state;
        }
        drop(servers);
        self.changed();
    }

    pub(super) async fn call(
        self: &Arc<Self>,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolOutput, String> {
        let (peer, attempt) = self.peer(server, tool).await?;
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = Some(arguments);
        match peer.call_tool_once(params).await {
            Ok(CallToolResponse::Complete(result)) => Ok(output::output(result)),
            Ok(_) => Err("the server asks for more input, which is not supported".to_owned()),
            Err(ServiceError::McpError(error)) => Err(error.message.into_owned()),
            Err(error @ (ServiceError::TransportSend(_) | ServiceError::TransportClosed)) => Err(format!(
                "the server is gone: {}",
                self.why_gone(server, attempt, &error.to_string()).await
            )),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns why the connection ended, if that is known soon. Otherwise closes the connection, which is unusable.
    async fn why_gone(&self, name: &str, attempt: u64, error: &str) -> String {
        let mut changes = self.changes.subscribe();
        let is_of_program = |entry: &Entry| matches!(entry.server.transport, Transport::Stdio { .. });
        let told = async {
            loop {
                {
                    let servers = self.lock();
                    let entry = servers.iter().find(|entry| entry.server.name == name)?;
                    match &entry.state {
                        State::Failed(why) if entry.attempt == attempt => return Some(why.clone()),
                        _ if entry.attempt != attempt
                            || !is_of_program(entry)
                            || entry.stop.is_cancelled() =>
                        {
                            return None;
                        }
                        _ => {}
                    }
                }
                changes.changed().await.ok()?;
            }
        };
        if let Ok(Some(why)) = timeout(EXIT_TIMEOUT, told).await {
            return why;
        }
        self.give_up(name, attempt, error);
        error.to_owned()
    }

    /// Returns the peer of a server. Waits while it connects, and restarts a failed one within the limit.
    async fn peer(self: &Arc<Self>, server: &str, tool: &str) -> Result<(Peer<RoleClient>, u64), String> {
        let mut changes = self.changes.subscribe();
        loop {
            if self.root.is_cancelled() {
                return Err("the session is over".to_owned());
            }
            {
                let mut servers = self.lock();
                let entry = servers.iter_mut().find(|entry| entry.server.name == server);
                let Some(entry) = entry else { return Err(format!("there is no MCP server `{server}`")) };
                match &entry.state {
                    State::Disabled => return Err(format!("the MCP server `{server}` is switched off")),
                    State::Connected { .. } if !is_enabled(&entry.server, tool) => {
                        return Err(format!("the tool `{tool}` of `{server}` is switched off"));
                    }
                    State::Connected { peer, .. } => return Ok((peer.clone(), entry.attempt)),
                    State::Connecting => {}
                    State::Failed(error) => {
                        entry.restarts.retain(|at| at.elapsed() < RESTART_WINDOW);
                        if entry.restarts.len() >= MAX_RESTARTS {
                            return Err(format!("the MCP server `{server}` does not work: {error}"));
                        }
                        entry.restarts.push(Instant::now());
                        self.begin(entry);
                    }
                }
            }
            tokio::select! {
                changed = changes.changed() => changed.map_err(|error| error.to_string())?,
                () = self.root.cancelled() => {}
            }
        }
    }

    /// Closes a broken connection; the next call opens a new one.
    fn give_up(&self, name: &str, attempt: u64, why: &str) {
        let mut servers = self.lock();
        let entry = servers.iter_mut().find(|entry| entry.server.name == name && entry.attempt == attempt);
        if let Some(entry) = entry
            && !matches!(entry.state, State::Failed(_))
        {
            entry.stop.cancel();
            entry.attempt += 1;
            entry.state = State::Failed(why.to_owned());
        }
        drop(servers);
        self.changed();
    }

    pub(super) fn variable(&self, name: &str) -> Option<String> {
        let found = self.options.environment.iter().find(|(own, _)| own == name);
        found.and_then(|(_, value)| value.to_str().map(str::to_owned))
    }

    pub(super) fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the entry of a server for lists of clients.
pub(super) fn view(entry: &Entry, level: Level) -> ServerView {
    let (status, error, tool_count) = match &entry.state {
        State::Disabled => ("disabled", None, None),
        State::Connecting => ("connecting", None, None),
        State::Connected { tools, .. } => ("connected", None, Some(tools.len())),
        State::Failed(error) => ("failed", Some(error.clone()), None),
    };
    ServerView {
        name: entry.server.name.clone(),
        status: status.to_owned(),
        source: level.name().to_owned(),
        kind: entry.server.transport.name().to_owned(),
        error,
        tool_count,
    }
}
