//! The program to start, its environment and folder, and the time it may take to end.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use musher_process::{Command, ParentDeath, Spawner};
use musher_wire::Frame;

use super::process::Grace;
use crate::Limits;

/// How to start a program.
///
/// ```
/// use musher_rpc::Launch;
///
/// let launch = Launch::new("droid")
///     .args(["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"])
///     .env("FACTORY_UPSTREAM_CLIENT_TYPE", "sdk")
///     .secret_env("FACTORY_API_KEY", "fk-123456")
///     .cwd("/workspace");
/// assert!(!format!("{launch:?}").contains("fk-123456"));
/// ```
#[derive(Clone)]
pub struct Launch {
    pub(super) command: Command,
    pub(super) secrets: Vec<String>,
    pub(super) limits: Limits,
    pub(super) stderr_tail: usize,
    pub(super) grace: Grace,
    pub(super) close_request: Option<Frame>,
}

impl Launch {
    /// Names a program, looked up in `PATH` if it is a plain name.
    pub fn new(program: impl AsRef<Path>) -> Self {
        Self {
            command: Command::new(program),
            secrets: Vec::new(),
            limits: Limits::default(),
            stderr_tail: 8 * 1024,
            grace: Grace::default(),
            close_request: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command = self.command.arg(arg);
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        self.command = self.command.args(args);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command = self.command.env(key, value);
        self
    }

    /// Sets an environment variable with a secret value, which is masked in the program's stderr.
    #[must_use]
    pub fn secret_env(mut self, key: impl AsRef<OsStr>, value: impl Into<String>) -> Self {
        let value = value.into();
        self.secrets.push(value.clone());
        self.env(key, value)
    }

    /// Removes an environment variable.
    #[must_use]
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.command = self.command.env_remove(key);
        self
    }

    /// Starts from an empty environment instead of our own.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.command = self.command.env_clear();
        self
    }

    /// Sets the folder it starts in.
    #[must_use]
    pub fn cwd(mut self, folder: impl AsRef<Path>) -> Self {
        self.command = self.command.cwd(folder);
        self
    }

    /// Sets the limits of the connection.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many bytes of stderr are kept; 8 KiB by default.
    #[must_use]
    pub fn stderr_tail(mut self, bytes: usize) -> Self {
        self.stderr_tail = bytes;
        self
    }

    /// Sets how long it may take to exit after its stdin was closed; 6 s by default, because droid needs more than 5 s.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace.stdin = grace;
        self
    }

    /// Sends SIGINT before SIGTERM, and sets how long it may take to exit after it. For programs that end their own children only
    /// when they are interrupted.
    #[must_use]
    pub fn grace_after_interrupt(mut self, grace: Duration) -> Self {
        self.grace.interrupt = grace;
        self
    }

    /// Sets how long it may take to exit after SIGTERM; 2 s by default.
    #[must_use]
    pub fn grace_after_term(mut self, grace: Duration) -> Self {
        self.grace.term = grace;
        self
    }

    /// Sets a frame that is sent before stdin is closed, such as a request to close the session.
    #[must_use]
    pub fn close_request(mut self, frame: Frame) -> Self {
        self.close_request = Some(frame);
        self
    }

    /// Sets what happens to it when this process dies without ending it first; [`ParentDeath::Kill`] by default.
    #[must_use]
    pub fn on_parent_death(mut self, parent_death: ParentDeath) -> Self {
        self.command = self.command.on_parent_death(parent_death);
        self
    }

    /// Starts the program so that it outlives this process, without a connection to it. Returns its process id. See
    /// [`Command::spawn_detached`](musher_process::Command::spawn_detached).
    pub async fn start_detached(&self) -> Result<u32, crate::Error> {
        self.command.spawn_detached().await.map_err(|source| crate::Error::Spawn {
            program: self.command.program().to_owned(),
            cwd: self.command.current_dir().map(Path::to_owned),
            source,
        })
    }

    /// Sets the thread that forks. See [`Spawner`].
    #[must_use]
    pub fn spawn_on(mut self, spawner: Arc<dyn Spawner>) -> Self {
        self.command = self.command.spawn_on(spawner);
        self
    }
}

/// Omits the secrets; the command omits all values of its environment.
impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch").field("command", &self.command).finish_non_exhaustive()
    }
}
