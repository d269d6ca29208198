//! The handle to all servers of a session: lists, calls, and configuration changes.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use musher_tools::{Sandbox, ToolOutput};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::connection::START_TIMEOUT;
use super::pool::{Entry, Pool, State, view};
use super::tool::{McpTool, typed};
use super::{output, persist};
use crate::{Error, ServerView};
use musher_config::{Level, McpServer, Transport, parse_server};

/// The options that all servers of a session share.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Our home: changes are written to its `mcp.json`.
    pub home: PathBuf,
    /// Droid's home: read when one of its servers is enabled or disabled, never written.
    pub factory_home: Option<PathBuf>,
    /// The working directory of programs.
    pub cwd: PathBuf,
    /// The environment of programs; see [`musher_tools::command_environment`].
    pub environment: Vec<(OsString, OsString)>,
    /// What programs may change and connect to; `None` if everything.
    pub sandbox: Option<Sandbox>,
    /// The timeout of calls to servers without their own.
    pub call_timeout: Option<Duration>,
    /// Where the browser returns to after a login, if the client of the session handles that.
    pub login_callback: Option<String>,
}

/// The servers of a session. Clones share the servers, which stop with the last clone.
#[derive(Debug, Clone)]
pub struct Mcp {
    pub(super) pool: Arc<Pool>,
    _guard: Arc<DropGuard>,
}

/// The timeout of a call if none is configured.
const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_mins(5);
/// The maximum time for all servers to stop.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

impl Mcp {
    /// Starts to connect to all enabled servers. Of two with the same name the later wins: pass those of the client last.
    ///
    /// Must be called in a tokio runtime.
    pub fn start(options: Options, servers: Vec<McpServer>) -> Self {
        let root = CancellationToken::new();
        let pool = Arc::new(Pool::new(options, root.clone()));
        for server in servers {
            pool.put(server);
        }
        Self { pool, _guard: Arc::new(root.drop_guard()) }
    }

    /// Waits until every server is connected or has failed, at most for the start timeout.
    pub async fn settled(&self) {
        self.settled_where(|_| true).await;
    }

    /// Waits like [`settled`](Self::settled), but only for the servers that a client gave for this session.
    pub async fn given_settled(&self) {
        self.settled_where(|entry| entry.server.level.is_none()).await;
    }

    /// Returns the names of the servers that are not connected yet.
    pub fn connecting(&self) -> Vec<String> {
        let servers = self.pool.lock();
        let connecting = servers.iter().filter(|entry| matches!(entry.state, State::Connecting));
        connecting.map(|entry| entry.server.name.clone()).collect()
    }

    pub(super) async fn settled_where(&self, is_awaited: impl Fn(&Entry) -> bool) {
        let mut changes = self.pool.changes.subscribe();
        let waiting = async {
            let is_connecting = |entry: &Entry| is_awaited(entry) && matches!(entry.state, State::Connecting);
            while self.pool.lock().iter().any(&is_connecting) {
                if changes.changed().await.is_err() {
                    break;
                }
            }
        };
        // each has its own deadline, and needs time to clean up after a failure
        timeout(START_TIMEOUT + SHUTDOWN_TIMEOUT, waiting).await.ok();
    }

    /// Returns a counter that changes when a state or a list of tools may have changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.pool.changes.subscribe()
    }

    /// Returns the configured servers for clients, without those that a client gave for the session.
    pub fn servers(&self) -> Vec<ServerView> {
        let servers = self.pool.lock();
        servers.iter().filter_map(|entry| Some(view(entry, entry.server.level?))).collect()
    }

    /// Returns the tools of all connected servers, including disabled ones.
    pub fn tools(&self) -> Vec<McpTool> {
        let mut taken = HashSet::new();
        let mut all = Vec::new();
        for entry in self.pool.lock().iter() {
            let State::Connected { tools, .. } = &entry.state else { continue };
            all.extend(tools.iter().map(|tool| typed(&entry.server, tool, &mut taken)));
        }
        all
    }

    /// Returns a tool by its name for the model.
    pub fn find(&self, model_name: &str) -> Option<McpTool> {
        self.tools().into_iter().find(|tool| tool.model_name == model_name)
    }

    /// Runs a tool. Restarts a failed server first, and waits for one that is connecting.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> ToolOutput {
        let limit = self.limit(server);
        let running = timeout(limit, self.pool.call(server, tool, arguments));
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
    pub async fn add(&self, name: &str, transport: &Transport, oauth: Option<&Value>) -> Result<(), Error> {
        let entry = persist::entry(transport, oauth);
        let server = parse_server(name, &entry, Level::User, &|name| self.pool.variable(name));
        let server = server.map_err(Error::Invalid)?;
        let (home, name) = (self.pool.options.home.clone(), name.to_owned());
        on_disk(move || persist::put(&home, &name, entry)).await?;
        self.pool.put(server);
        Ok(())
    }

    /// Removes a server from the user's file, and stops it.
    pub async fn remove(&self, name: &str) -> Result<(), Error> {
        let (home, wanted) = (self.pool.options.home.clone(), name.to_owned());
        let was_there = on_disk(move || persist::remove(&home, &wanted)).await?;
        if !was_there {
            let factory = self.pool.options.factory_home.as_deref();
            return Err(Error::Failed(match factory.filter(|home| persist::is_in(home, name)) {
                Some(home) => format!("the server is configured in {}, which is not changed", home.display()),
                None => "MCP server not found in configuration".to_owned(),
            }));
        }
        self.pool.take_out(name);
        Ok(())
    }

    /// Enables or disables a server. Saved for later sessions if it is the user's own.
    pub async fn toggle(&self, name: &str, enabled: bool) -> Result<(), Error> {
        self.keep_change(name, move |entry| {
            entry.insert("disabled".to_owned(), (!enabled).into());
        })
        .await?;
        self.pool.switch(name, enabled);
        Ok(())
    }

    /// Enables or disables one tool. Saved for later sessions if the server is the user's own.
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
        if let Some(entry) = self.pool.lock().iter_mut().find(|entry| entry.server.name == server) {
            entry.server.disabled_tools.retain(|one| one != tool);
            if !enabled {
                entry.server.disabled_tools.push(tool.to_owned());
            } else if let Some(on) = &mut entry.server.enabled_tools {
                on.push(tool.to_owned());
            }
        }
        self.pool.changed();
        Ok(())
    }

    /// Stops all servers, and waits up to five seconds for their end.
    pub async fn shutdown(&self) {
        self.pool.root.cancel();
        self.pool.tasks.close();
        if timeout(SHUTDOWN_TIMEOUT, self.pool.tasks.wait()).await.is_err() {
            tracing::warn!("an MCP server did not end in time");
        }
    }

    fn limit(&self, server: &str) -> Duration {
        let own = self
            .pool
            .lock()
            .iter()
            .find(|entry| entry.server.name == server)
            .and_then(|it| it.server.timeout);
        own.or(self.pool.options.call_timeout).unwrap_or(DEFAULT_CALL_TIMEOUT)
    }

    /// Saves a change of an entry if it is the user's own. Other entries change for this session only.
    async fn keep_change(
        &self,
        name: &str,
        change: impl FnOnce(&mut Map<String, Value>) + Send + 'static,
    ) -> Result<(), Error> {
        let missing = || Error::Failed("MCP server not found in configuration".to_owned());
        let level =
            self.pool.lock().iter().find(|entry| entry.server.name == name).map(|entry| entry.server.level);
        if level.ok_or_else(missing)? != Some(Level::User) {
            return Ok(());
        }
        let Options { home, factory_home, .. } = self.pool.options.clone();
        let name = name.to_owned();
        let is_there =
            on_disk(move || persist::change(&home, factory_home.as_deref(), &name, change)).await?;
        if is_there { Ok(()) } else { Err(missing()) }
    }
}

async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| Error::Failed(format!("the change was not made: {error}")))?;
    done.map_err(|error| Error::Failed(error.to_string()))
}

#[cfg(test)]
mod tests;
