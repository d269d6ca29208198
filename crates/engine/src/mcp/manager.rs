//! All servers of a session: their states, their tools, calls, and changes to what is configured.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use musher_tools::ToolOutput;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Tool};
use rmcp::service::ServiceError;
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::connection::{Connection, START};
use super::http::Client;
use super::{names, output, persist};
use crate::config::{Level, McpServer, Transport, parse_server};
use crate::{Error, McpToolView, ServerView};

/// What servers need besides their own configuration.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Our home: changes go to its `mcp.json`.
    pub home: PathBuf,
    /// Droid's home: read when a server of it is switched, never written.
    pub factory_home: Option<PathBuf>,
    /// Where programs start.
    pub cwd: PathBuf,
    /// The environment of programs; see [`musher_tools::command_environment`].
    pub environment: Vec<(OsString, OsString)>,
    /// How long a call may take, where the server's own entry says nothing.
    pub call_timeout: Option<Duration>,
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct McpTool {
    /// The name the model knows it by, unique among all tools of all servers.
    pub model_name: String,
    /// The server.
    pub server: String,
    /// The server's own name of it.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The schema of its arguments.
    pub schema: Arc<Map<String, Value>>,
    /// Whether it says that it changes nothing.
    pub is_read_only: Option<bool>,
    /// Whether it is on.
    pub is_enabled: bool,
}

/// The servers of a session. Clones are the same servers; they end with the last clone.
#[derive(Debug, Clone)]
pub struct Mcp {
    inner: Arc<Inner>,
    _guard: Arc<DropGuard>,
}

#[derive(Debug)]
struct Inner {
    options: Options,
    // held for a few instructions only, never across an await
    servers: Mutex<Vec<Entry>>,
    changes: watch::Sender<u64>,
    tasks: TaskTracker,
    root: CancellationToken,
    client: OnceLock<Client>,
}

#[derive(Debug)]
struct Entry {
    server: McpServer,
    state: State,
    /// Which attempt this is: news of former ones count for nothing.
    attempt: u64,
    stop: CancellationToken,
    /// When it was started again after a failure.
    restarts: Vec<Instant>,
}

#[derive(Debug)]
enum State {
    Disabled,
    Connecting,
    Connected { peer: Peer<RoleClient>, tools: Arc<[Tool]> },
    Failed(String),
}

/// The longest call, if nothing is configured.
const CALL: Duration = Duration::from_mins(5);
/// So many new starts within a minute, and no more.
const RESTARTS: usize = 3;
const RESTART_WINDOW: Duration = Duration::from_mins(1);
/// How long to wait for what a program says when it ends.
const LAST_WORDS: Duration = Duration::from_secs(4);
/// How long all may take to end.
const SHUTDOWN: Duration = Duration::from_secs(5);
/// A longer description is cut.
const DESCRIPTION: usize = 16 << 10;

impl Mcp {
    /// Begins to connect to all servers that are on. Of two with the same name the later counts: give those of the client last.
    ///
    /// Must be called in a tokio runtime.
    pub fn start(options: Options, servers: Vec<McpServer>) -> Self {
        let root = CancellationToken::new();
        let inner = Arc::new(Inner {
            options,
            servers: Mutex::default(),
            changes: watch::Sender::new(0),
            tasks: TaskTracker::new(),
            root: root.clone(),
            client: OnceLock::new(),
        });
        for server in servers {
            inner.put(server);
        }
        Self { inner, _guard: Arc::new(root.drop_guard()) }
    }

    /// Waits until every server is connected or has failed. Takes no longer than a server may take to start.
    pub async fn settled(&self) {
        let mut changes = self.inner.changes.subscribe();
        let waiting = async {
            while self.inner.lock().iter().any(|entry| matches!(entry.state, State::Connecting)) {
                if changes.changed().await.is_err() {
                    break;
                }
            }
        };
        // each has its own deadline, and needs a moment to end what did not work
        timeout(START + SHUTDOWN, waiting).await.ok();
    }

    /// Counts up when a state or a list of tools may have changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// The configured servers, as clients list them. Those a client gave for the session are not among them.
    pub fn servers(&self) -> Vec<ServerView> {
        let servers = self.inner.lock();
        servers.iter().filter_map(|entry| Some(view(entry, entry.server.level?))).collect()
    }

    /// The tools of all servers that are connected, those that are off too.
    pub fn tools(&self) -> Vec<McpTool> {
        let mut taken = HashSet::new();
        let mut all = Vec::new();
        for entry in self.inner.lock().iter() {
            let State::Connected { tools, .. } = &entry.state else { continue };
            all.extend(tools.iter().map(|tool| typed(&entry.server, tool, &mut taken)));
        }
        all
    }

    /// A tool by the name the model knows it by.
    pub fn find(&self, model_name: &str) -> Option<McpTool> {
        self.tools().into_iter().find(|tool| tool.model_name == model_name)
    }

    /// Runs a tool. A server that failed is started again first; one that still connects is waited for.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> ToolOutput {
        let limit = self.limit(server);
        let running = timeout(limit, self.inner.call(server, tool, arguments));
        tokio::select! {
            biased;
            () = cancel.cancelled() => ToolOutput::cancelled(),
            done = running => match done {
                Ok(Ok(result)) => result,
                Ok(Err(text)) => output::failure(&text),
                Err(_elapsed) => {
                    output::failure(&format!("the tool did not answer within {} seconds", limit.as_secs_f64()))
                }
            },
        }
    }

    /// Adds a server to the user's file, or replaces it, and connects to it. `${NAME}` in it stays as it is in the file.
    pub async fn add(&self, name: &str, transport: &Transport) -> Result<(), Error> {
        let entry = persist::entry(transport);
        let server = parse_server(name, &entry, Level::User, &|name| self.inner.variable(name));
        let server = server.map_err(Error::Invalid)?;
        let (home, name) = (self.inner.options.home.clone(), name.to_owned());
        on_disk(move || persist::put(&home, &name, entry)).await?;
        self.inner.put(server);
        Ok(())
    }

    /// Takes a server out of the user's file, and ends it.
    pub async fn remove(&self, name: &str) -> Result<(), Error> {
        let (home, wanted) = (self.inner.options.home.clone(), name.to_owned());
        let was_there = on_disk(move || persist::remove(&home, &wanted)).await?;
        if !was_there {
            let factory = self.inner.options.factory_home.as_deref();
            return Err(Error::Internal(match factory.filter(|home| persist::is_in(home, name)) {
                Some(home) => format!("the server is configured in {}, which is not changed", home.display()),
                None => "MCP server not found in configuration".to_owned(),
            }));
        }
        self.inner.take_out(name);
        Ok(())
    }

    /// Switches a server. Kept for later sessions if it is the user's own.
    pub async fn toggle(&self, name: &str, enabled: bool) -> Result<(), Error> {
        self.keep_change(name, move |entry| {
            entry.insert("disabled".to_owned(), (!enabled).into());
        })
        .await?;
        self.inner.switch(name, enabled);
        Ok(())
    }

    /// Switches one tool. Kept for later sessions if the server is the user's own.
    pub async fn toggle_tool(&self, server: &str, tool: &str, enabled: bool) -> Result<(), Error> {
        let name = tool.to_owned();
        self.keep_change(server, move |entry| {
            let off = entry.entry("disabledTools").or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(off) = off {
                off.retain(|one| one.as_str() != Some(&name));
                if !enabled {
                    off.push(name.clone().into());
                }
            }
            if let Some(Value::Array(on)) = entry.get_mut("enabledTools")
                && enabled
            {
                on.push(name.into());
            }
        })
        .await?;
        if let Some(entry) = self.inner.lock().iter_mut().find(|entry| entry.server.name == server) {
            entry.server.disabled_tools.retain(|one| one != tool);
            if !enabled {
                entry.server.disabled_tools.push(tool.to_owned());
            } else if let Some(on) = &mut entry.server.enabled_tools {
                on.push(tool.to_owned());
            }
        }
        self.inner.changed();
        Ok(())
    }

    /// Logs in at a server: not supported yet.
    pub fn authenticate(&self, name: &str) -> Result<(), Error> {
        self.known(name)?;
        Err(Error::Internal(
            "logging in at MCP servers is not supported yet: put a token into the headers of the server"
                .to_owned(),
        ))
    }

    /// Forgets a login. There is none, so this is done at once if the server is known.
    pub fn clear_authentication(&self, name: &str) -> Result<(), Error> {
        self.known(name)
    }

    /// Hands in the code or the failure of a login. No login is ever under way: always `false`.
    pub fn submit_authentication(&self) -> bool {
        false
    }

    /// Ends all servers. Done when this returns, or after five seconds.
    pub async fn shutdown(&self) {
        self.inner.root.cancel();
        self.inner.tasks.close();
        if timeout(SHUTDOWN, self.inner.tasks.wait()).await.is_err() {
            tracing::warn!("an MCP server did not end in time");
        }
    }

    fn limit(&self, server: &str) -> Duration {
        let own = self
            .inner
            .lock()
            .iter()
            .find(|entry| entry.server.name == server)
            .and_then(|it| it.server.timeout);
        own.or(self.inner.options.call_timeout).unwrap_or(CALL)
    }

    fn known(&self, name: &str) -> Result<(), Error> {
        let is_known = self.inner.lock().iter().any(|entry| entry.server.name == name);
        if is_known { Ok(()) } else { Err(Error::Internal("Server not found".to_owned())) }
    }

    /// Writes a change of an entry, if it is the user's own. Those of others are changed for this session only.
    async fn keep_change(
        &self,
        name: &str,
        change: impl FnOnce(&mut Map<String, Value>) + Send + 'static,
    ) -> Result<(), Error> {
        let missing = || Error::Internal("MCP server not found in configuration".to_owned());
        let level =
            self.inner.lock().iter().find(|entry| entry.server.name == name).map(|entry| entry.server.level);
        if level.ok_or_else(missing)? != Some(Level::User) {
            return Ok(());
        }
        let Options { home, factory_home, .. } = self.inner.options.clone();
        let name = name.to_owned();
        let is_there =
            on_disk(move || persist::change(&home, factory_home.as_deref(), &name, change)).await?;
        if is_there { Ok(()) } else { Err(missing()) }
    }
}

impl Inner {
    /// Puts a server in, in the place of one with the same name.
    fn put(self: &Arc<Self>, server: McpServer) {
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

    fn take_out(&self, name: &str) {
        let mut servers = self.lock();
        if let Some(index) = servers.iter().position(|entry| entry.server.name == name) {
            servers.remove(index).stop.cancel();
        }
        drop(servers);
        self.changed();
    }

    fn switch(self: &Arc<Self>, name: &str, enabled: bool) {
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

    /// Begins to connect.
    fn begin(self: &Arc<Self>, entry: &mut Entry) {
        entry.attempt += 1;
        entry.stop = self.root.child_token();
        entry.state = State::Connecting;
        let inner = Arc::clone(self);
        let (server, attempt, stop) = (entry.server.clone(), entry.attempt, entry.stop.clone());
        self.tasks.spawn(async move { inner.run(server, attempt, stop).await });
    }

    /// The life of one connection.
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

    async fn call(
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

    /// What its end was like, if that is known soon. If it has not ended, the connection is of no use and is closed.
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
        if let Ok(Some(why)) = timeout(LAST_WORDS, told).await {
            return why;
        }
        self.give_up(name, attempt, error);
        error.to_owned()
    }

    /// Whom to ask. Waits for a server that connects, and starts one that has failed, within bounds.
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
                        if entry.restarts.len() >= RESTARTS {
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

    /// A connection that does not carry any more is closed; the next call makes a new one.
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

    fn variable(&self, name: &str) -> Option<String> {
        let found = self.options.environment.iter().find(|(own, _)| own == name);
        found.and_then(|(_, value)| value.to_str().map(str::to_owned))
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn view(entry: &Entry, level: Level) -> ServerView {
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

fn typed(server: &McpServer, tool: &Tool, taken: &mut HashSet<String>) -> McpTool {
    let description = tool.description.as_deref().map(|text| {
        let mut end = text.len().min(DESCRIPTION);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text[..end].to_owned()
    });
    McpTool {
        model_name: names::model_name(&server.name, &tool.name, taken),
        server: server.name.clone(),
        name: tool.name.clone().into_owned(),
        description,
        schema: Arc::clone(&tool.input_schema),
        is_read_only: tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint),
        is_enabled: is_enabled(server, &tool.name),
    }
}

fn is_enabled(server: &McpServer, tool: &str) -> bool {
    let is_named = |list: &Vec<String>| list.iter().any(|name| name == tool);
    server.enabled_tools.as_ref().is_none_or(is_named) && !is_named(&server.disabled_tools)
}

impl McpTool {
    /// As clients list it.
    pub fn view(&self) -> McpToolView {
        McpToolView {
            server: self.server.clone(),
            name: self.name.clone(),
            description: self.description.clone(),
            enabled: self.is_enabled,
            read_only: self.is_read_only,
            schema: Value::Object((*self.schema).clone()),
        }
    }
}

async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| Error::Internal(format!("the change was not made: {error}")))?;
    done.map_err(|error| Error::Internal(error.to_string()))
}

#[cfg(test)]
mod tests;
