//! The servers and their states: opens, monitors, closes and reopens connections.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use musher_tools::ToolOutput;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Tool};
use rmcp::service::ServiceError;
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{Connection, LOGIN};
use super::fault::Fault;
use super::http::Client;
use super::manager::Options;
use super::oauth::{Auth, LoginInput, PendingLogin};
use super::output;
use super::secrets::Secrets;
use super::tool::is_enabled;
use crate::ServerView;
use musher_config::{Level, McpServer, Transport};

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
    /// Its tokens, if it may need some.
    pub(super) auth: Option<Arc<Auth>>,
    /// The login that waits for the user.
    pub(super) login: Option<ActiveLogin>,
}

/// A login that waits for the user.
#[derive(Debug)]
pub(super) struct ActiveLogin {
    pub(super) id: u64,
    pub(super) pending: Option<PendingLogin>,
    pub(super) input: mpsc::Sender<LoginInput>,
    pub(super) cancel: CancellationToken,
}

/// The state of a server.
#[derive(Debug)]
pub(super) enum State {
    Disabled,
    Connecting,
    Connected {
        peer: Peer<RoleClient>,
        tools: Arc<[Tool]>,
        fault: Fault,
    },
    Failed(String),
    /// The server refuses requests until the user logs in.
    NeedsLogin,
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
            auth: Auth::of(&server, &self.options.home),
            login: None,
            server,
        };
        if let Some(index) = index {
            entry.attempt = servers[index].attempt + 1;
        }
        if !entry.server.is_disabled {
            self.begin(&mut entry);
        }
        match index {
            Some(index) => {
                let old = std::mem::replace(&mut servers[index], entry);
                old.stop.cancel();
                old.end_login();
            }
            None => servers.push(entry),
        }
        drop(servers);
        self.changed();
    }

    pub(super) fn take_out(&self, name: &str) {
        let mut servers = self.lock();
        if let Some(index) = servers.iter().position(|entry| entry.server.name == name) {
            let old = servers.remove(index);
            old.stop.cancel();
            old.end_login();
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

    /// Connects again to servers that the user has logged in to elsewhere. Reads the file of logins if a server needs one. Returns
    /// whether there are some.
    pub(super) fn resume_after_login(self: &Arc<Self>) -> bool {
        let mut servers = self.lock();
        let mut has_begun = false;
        for entry in servers.iter_mut().filter(|entry| matches!(entry.state, State::NeedsLogin)) {
            if entry.auth.as_ref().is_some_and(|auth| auth.has_new_login()) {
                self.begin(entry);
                has_begun = true;
            }
        }
        drop(servers);
        if has_begun {
            self.changed();
        }
        has_begun
    }

    /// Connects again, after a login or its deletion.
    pub(super) fn reconnect(self: &Arc<Self>, name: &str) {
        let mut servers = self.lock();
        let entry = servers.iter_mut().find(|entry| entry.server.name == name);
        if let Some(entry) = entry.filter(|entry| !entry.server.is_disabled) {
            entry.stop.cancel();
            entry.restarts.clear();
            self.begin(entry);
        }
        drop(servers);
        self.changed();
    }

    /// Starts to connect.
    fn begin(self: &Arc<Self>, entry: &mut Entry) {
        if let Some(auth) = &entry.auth {
            auth.reset();
        }
        entry.attempt += 1;
        entry.stop = self.root.child_token();
        entry.state = State::Connecting;
        let pool = Arc::clone(self);
        let (server, attempt, stop) = (entry.server.clone(), entry.attempt, entry.stop.clone());
        let auth = entry.auth.clone();
        self.tasks.spawn(async move { pool.run(server, auth, attempt, stop).await });
    }

    /// Runs one connection until it ends.
    async fn run(
        self: Arc<Self>,
        server: McpServer,
        auth: Option<Arc<Auth>>,
        attempt: u64,
        stop: CancellationToken,
    ) {
        let secrets = Secrets::of(&server, &self.options.cwd);
        let client = || self.client.get_or_init(Client::new).clone().with_auth(auth.clone());
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
                let error = secrets.redact(&error);
                tracing::warn!(server = name, error, "an MCP server does not work");
                return self.set(name, attempt, failed(auth.as_deref(), error));
            }
        };
        let peer = connection.peer.clone();
        let tools = Arc::clone(&connection.tools);
        let fault = connection.fault.clone();
        let on_tools = |tools| {
            self.set(name, attempt, State::Connected { peer: peer.clone(), tools, fault: fault.clone() });
        };
        on_tools(tools);
        if let Some(why) = connection.keep(&stop, on_tools).await {
            let why = secrets.redact(&why);
            tracing::warn!(server = name, why, "an MCP server is gone");
            self.set(name, attempt, failed(auth.as_deref(), why));
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
        let (peer, attempt, fault) = self.peer(server, tool).await?;
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = Some(arguments);
        let answer = tokio::select! {
            biased;
            answer = peer.call_tool_once(params) => answer,
            _why = fault.reached() => Err(ServiceError::TransportClosed),
        };
        if let (Err(_), Some(why)) = (&answer, fault.get()) {
            self.give_up(server, attempt, why);
            return Err(why.to_owned());
        }
        match answer {
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
                        State::NeedsLogin if entry.attempt == attempt => return Some(login_hint(name)),
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
        let servers = self.lock();
        let entry = servers.iter().find(|entry| entry.server.name == name);
        match entry.map(|entry| &entry.state) {
            Some(State::NeedsLogin) => login_hint(name),
            _ => error.to_owned(),
        }
    }

    /// Returns the peer of a server. Waits while it connects, and restarts a failed one within the limit.
    async fn peer(
        self: &Arc<Self>,
        server: &str,
        tool: &str,
    ) -> Result<(Peer<RoleClient>, u64, Fault), String> {
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
                    State::Connected { peer, fault, .. } => {
                        return Ok((peer.clone(), entry.attempt, fault.clone()));
                    }
                    State::Connecting => {}
                    State::NeedsLogin if entry.auth.as_ref().is_some_and(|auth| auth.has_new_login()) => {
                        self.begin(entry);
                    }
                    State::NeedsLogin => {
                        return Err(format!(
                            "the MCP server `{server}` needs a login: {}",
                            login_hint(server)
                        ));
                    }
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
            && !matches!(entry.state, State::Failed(_) | State::NeedsLogin)
        {
            entry.stop.cancel();
            entry.attempt += 1;
            entry.state = failed(entry.auth.as_deref(), why.to_owned());
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
        State::NeedsLogin => ("failed", Some(LOGIN.to_owned()), None),
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
        requires_login: matches!(entry.state, State::NeedsLogin),
        has_tokens: entry.auth.as_ref().map(|auth| auth.has_tokens()),
        pending_login: entry.login.as_ref().and_then(|login| login.pending.clone()),
    }
}

impl Entry {
    /// Ends the login that waits for the user.
    fn end_login(&self) {
        if let Some(login) = &self.login {
            login.cancel.cancel();
        }
    }
}

/// Returns the state of a server whose connection has failed: it may need a login.
fn failed(auth: Option<&Auth>, why: String) -> State {
    match auth.and_then(Auth::challenge) {
        Some(_) => State::NeedsLogin,
        None => State::Failed(why),
    }
}

/// Says what to do about a server that needs a login.
fn login_hint(name: &str) -> String {
    format!("run `musher mcp login {name}` in a terminal")
}
