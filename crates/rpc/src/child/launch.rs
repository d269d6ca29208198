//! What to start, where, with which environment, and how patient to be when it has to end.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use musher_wire::Frame;

use super::Spawner;
use super::process::Patience;
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
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(OsString, Option<OsString>)>,
    pub(super) is_env_cleared: bool,
    pub(super) secrets: Vec<String>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) limits: Limits,
    pub(super) stderr_tail: usize,
    pub(super) patience: Patience,
    pub(super) farewell: Option<Frame>,
    pub(super) parent_death: ParentDeath,
    pub(super) spawner: Option<Arc<dyn Spawner>>,
}

/// What the kernel sends a program when we die without a word, by SIGKILL for example. Linux only.
///
/// Whatever it started, in its group or elsewhere, is killed then, too: on every system, and even behind a wrapper.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ParentDeath {
    /// It is killed at once.
    #[default]
    Kill,
    /// It is interrupted, for a program that then ends what it started before it exits itself. After 2 s it is killed.
    Interrupt,
}

impl Launch {
    /// A program, looked up in `PATH` if it is a plain name.
    pub fn new(program: impl AsRef<Path>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            is_env_cleared: false,
            secrets: Vec::new(),
            cwd: None,
            limits: Limits::default(),
            stderr_tail: 8 * 1024,
            patience: Patience::default(),
            farewell: None,
            parent_death: ParentDeath::default(),
            spawner: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((key.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Sets an environment variable whose value must not be seen: it is taken out of what the program writes to stderr.
    #[must_use]
    pub fn secret_env(mut self, key: impl AsRef<OsStr>, value: impl Into<String>) -> Self {
        let value = value.into();
        self.secrets.push(value.clone());
        self.env(key, value)
    }

    /// Takes an environment variable away.
    #[must_use]
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.env.push((key.as_ref().to_owned(), None));
        self
    }

    /// Starts from an empty environment instead of our own.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.is_env_cleared = true;
        self
    }

    /// The folder it starts in.
    #[must_use]
    pub fn cwd(mut self, folder: impl AsRef<Path>) -> Self {
        self.cwd = Some(folder.as_ref().to_owned());
        self
    }

    /// The limits of the connection.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many bytes of stderr are kept; 8 KiB if not set.
    #[must_use]
    pub fn stderr_tail(mut self, bytes: usize) -> Self {
        self.stderr_tail = bytes;
        self
    }

    /// How long it may take to exit after its stdin was closed; 6 s if not set, as droid needs more than 5 s.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.patience.stdin = grace;
        self
    }

    /// Sends SIGINT before SIGTERM, and this is how long it may take to exit after it. For programs that end what they started
    /// elsewhere only when they are interrupted.
    #[must_use]
    pub fn grace_after_interrupt(mut self, grace: Duration) -> Self {
        self.patience.interrupt = grace;
        self
    }

    /// How long it may take to exit after SIGTERM; 2 s if not set.
    #[must_use]
    pub fn grace_after_term(mut self, grace: Duration) -> Self {
        self.patience.term = grace;
        self
    }

    /// A frame to send before stdin is closed, such as a request to close the session.
    #[must_use]
    pub fn farewell(mut self, frame: Frame) -> Self {
        self.farewell = Some(frame);
        self
    }

    /// What happens to it when we die without a word.
    #[must_use]
    pub fn on_parent_death(mut self, parent_death: ParentDeath) -> Self {
        self.parent_death = parent_death;
        self
    }

    /// Where the fork happens, if not on a thread of our own. See [`Spawner`].
    #[must_use]
    pub fn spawn_on(mut self, spawner: Arc<dyn Spawner>) -> Self {
        self.spawner = Some(spawner);
        self
    }
}

/// Leaves the values of the environment out: any of them may be a secret.
impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.env.iter().map(|(key, _)| key).collect();
        f.debug_struct("Launch")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &keys)
            .field("is_env_cleared", &self.is_env_cleared)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
