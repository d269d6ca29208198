//! Where the agent comes from: a program that this crate starts, or a connection that the caller makes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use musher_rpc::{Child, Connection, Launch};
use musher_wire::{CloseReason, CloseSession, CloseSessionParams, Frame, Request};

use crate::record::Tap;
use crate::{Error, Result};

/// The arguments that make the program speak the protocol.
const PROTOCOL_ARGS: [&str; 5] =
    ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];

/// An agent to connect to: a program to start, or a connection.
///
/// The default is the program `droid`, found in `PATH`, with the credentials it has stored.
///
/// ```
/// use musher::Agent;
///
/// let agent = Agent::program("/opt/bin/droid").api_key("fk-...").env("HTTPS_PROXY", "http://proxy:3128");
/// ```
#[derive(Debug, Clone)]
pub struct Agent {
    source: Source,
    tap: Option<Tap>,
}

#[derive(Debug, Clone)]
enum Source {
    Program { program: PathBuf, args: Vec<OsString>, setup: Vec<Setup> },
    Launch(Box<Launch>),
    Connector(Arc<dyn Connector>),
}

#[derive(Clone)]
enum Setup {
    Env(OsString, OsString),
    Secret(OsString, String),
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(key, _) | Self::Secret(key, _) => write!(f, "{}=...", key.display()),
        }
    }
}

/// Makes connections to an agent: in process, over a network, to a container.
pub trait Connector: fmt::Debug + Send + Sync + 'static {
    /// Connects. Called once for each session.
    fn connect(&self) -> Pin<Box<dyn Future<Output = Result<Connection>> + Send + '_>>;
}

impl Default for Agent {
    fn default() -> Self {
        Self::program("droid")
    }
}

impl Agent {
    /// Creates an agent from a program that speaks the Droid protocol when it is called like `droid exec`.
    pub fn program(program: impl AsRef<Path>) -> Self {
        let program = program.as_ref().to_owned();
        let args = PROTOCOL_ARGS.iter().map(Into::into).collect();
        Self { source: Source::Program { program, args, setup: Vec::new() }, tap: None }
    }

    /// Creates an agent from a program that is started exactly as `launch` says: directory, environment, where to fork.
    pub fn launch(launch: Launch) -> Self {
        Self { source: Source::Launch(Box::new(launch)), tap: None }
    }

    /// Creates an agent that is reached over connections of `connector`.
    pub fn connector(connector: impl Connector) -> Self {
        Self { source: Source::Connector(Arc::new(connector)), tap: None }
    }

    /// Creates an agent from this connection. It serves one session; a fork needs another connection.
    pub fn connection(connection: Connection) -> Self {
        Self::connector(Once(Mutex::new(Some(connection))))
    }

    /// Replaces the program's arguments.
    #[must_use]
    pub fn args(mut self, new: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        if let Source::Program { args, .. } = &mut self.source {
            *args = new.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        }
        self
    }

    /// Adds arguments after those that make the program speak the protocol.
    #[must_use]
    pub fn extra_args(mut self, more: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        if let Source::Program { args, .. } = &mut self.source {
            args.extend(more.into_iter().map(|arg| arg.as_ref().to_owned()));
        }
        self
    }

    /// Sets an environment variable of the program.
    #[must_use]
    pub fn env(self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.set_up(Setup::Env(key.as_ref().to_owned(), value.as_ref().to_owned()))
    }

    /// Sets the key for the vendor's service. By default the program uses its stored login.
    #[must_use]
    pub fn api_key(self, key: impl Into<String>) -> Self {
        self.set_up(Setup::Secret("FACTORY_API_KEY".into(), key.into()))
    }

    /// Records all messages, for a [`Replay`](crate::Replay). The first connection is recorded to `path`, further ones
    /// (forks, compactions) to files beside it: `a.jsonl`, `a.2.jsonl`, ... The files hold the whole conversation.
    #[must_use]
    pub fn record(mut self, path: impl AsRef<Path>) -> Self {
        self.tap = Some(Tap::new(path.as_ref()));
        self
    }

    fn set_up(mut self, more: Setup) -> Self {
        match &mut self.source {
            Source::Program { setup, .. } => setup.push(more),
            Source::Launch(launch) => **launch = more.apply((**launch).clone()),
            Source::Connector(_) => {}
        }
        self
    }

    /// Connects. A program starts in `cwd`, unless it has a [`Launch`] of its own.
    pub(crate) async fn connect(&self, cwd: Option<&Path>) -> Result<(Connection, Option<Child>)> {
        let (connection, child) = self.reach(cwd).await?;
        match &self.tap {
            Some(tap) => Ok((tap.through(connection)?, child)),
            None => Ok((connection, child)),
        }
    }

    async fn reach(&self, cwd: Option<&Path>) -> Result<(Connection, Option<Child>)> {
        let launch = match &self.source {
            Source::Connector(connector) => return Ok((connector.connect().await?, None)),
            Source::Launch(launch) => (**launch).clone(),
            Source::Program { program, args, setup } => {
                let launch = Launch::new(program).args(args);
                let launch = setup.iter().cloned().fold(launch, |launch, setup| setup.apply(launch));
                match cwd {
                    Some(cwd) => launch.cwd(cwd),
                    None => launch,
                }
            }
        };
        // without the close request a droid with a slow service needs seconds to notice that its input has ended
        let params = CloseSessionParams { reason: Some(CloseReason::Other), ..CloseSessionParams::default() };
        let close_request = Request::call::<CloseSession>("farewell", &params)?;
        let (child, connection) = Child::spawn(launch.close_request(Frame::Request(close_request))).await?;
        Ok((connection, Some(child)))
    }

    /// Returns whether the agent sees the same files as this process, so that paths can be checked before it is started.
    pub(crate) fn is_local_program(&self) -> bool {
        matches!(self.source, Source::Program { .. })
    }
}

impl Setup {
    fn apply(self, launch: Launch) -> Launch {
        match self {
            Self::Env(key, value) => launch.env(key, value),
            Self::Secret(key, value) => launch.secret_env(key, value),
        }
    }
}

/// A connection that can be taken once.
#[derive(Debug)]
struct Once(Mutex<Option<Connection>>);

impl Connector for Once {
    fn connect(&self) -> Pin<Box<dyn Future<Output = Result<Connection>> + Send + '_>> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(std::future::ready(
            taken.ok_or_else(|| Error::session("the agent's only connection is already in use")),
        ))
    }
}
