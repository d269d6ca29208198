//! Where the agent comes from: a program that this crate starts, or a connection that the caller makes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use musher_rpc::{Child, Connection, Launch};
use musher_wire::{CloseReason, CloseSession, CloseSessionParams, Frame, Request};

use crate::record::Tap;
use crate::{Error, Result};

/// The arguments that make the program speak the protocol.
const PROTOCOL_ARGS: [&str; 5] =
    ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];

/// An agent to connect to: a program to start, or a connection.
///
/// The default is the agent of `MUSHER_AGENT`, or else the program `droid`, found in `PATH`, with the credentials it has stored.
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
    CloseTimeout(Duration),
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(key, _) | Self::Secret(key, _) => write!(f, "{}=...", key.display()),
            Self::CloseTimeout(after) => write!(f, "close within {after:?}"),
        }
    }
}

/// Makes connections to an agent: in process, over a network, to a container.
pub trait Connector: fmt::Debug + Send + Sync + 'static {
    /// Connects. Called once for each session.
    fn connect(&self) -> Pin<Box<dyn Future<Output = Result<Connection>> + Send + '_>>;

    /// Returns whether the agent runs in this process and logs its turns, tool calls and retries with `tracing`. The session does not log
    /// them a second time then. The default is false.
    fn is_logged(&self) -> bool {
        false
    }
}

impl Default for Agent {
    /// Returns the agent of the environment; see [`Agent::from_env`].
    fn default() -> Self {
        Self::from_env()
    }
}

impl Agent {
    /// Returns the agent that `MUSHER_AGENT` names, as in the command line of musher: `engine`, `droid` or a program. Without it the agent is
    /// `droid`. `MUSHER_DROID` is the path of droid, `MUSHER_ENGINE` that of musher, if they are not in `PATH`.
    pub fn from_env() -> Self {
        Self::named(&variable)
    }

    fn named(variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        match variable("MUSHER_AGENT") {
            Some(named) if named == "engine" => {
                Self::program(variable("MUSHER_ENGINE").unwrap_or_else(|| "musher".into()))
            }
            Some(named) if named != "droid" => Self::program(named),
            _ => Self::program(variable("MUSHER_DROID").unwrap_or_else(|| "droid".into())),
        }
    }

    /// Returns musher's own agent: the installed program `musher`, or the one at `MUSHER_ENGINE`. It calls the models of its settings and of
    /// the keys in the environment, and needs no account of droid.
    ///
    /// To run it in this process instead, give [`Agent::connector`] a connector that returns `musher_server::connect` of the crate
    /// `musher-server`.
    pub fn engine() -> Self {
        Self::program(variable("MUSHER_ENGINE").unwrap_or_else(|| "musher".into()))
    }

    /// Creates an agent from a program that speaks the Droid protocol when it is called like `droid exec`.
    pub fn program(program: impl AsRef<Path>) -> Self {
        let program = program.as_ref().to_owned();
        let args = PROTOCOL_ARGS.iter().map(Into::into).collect();
        Self { source: Source::Program { program, args, setup: Vec::new() }, tap: None }
    }

    /// Returns how such a program is started, without a directory: to be changed, and given to [`Agent::launch`].
    pub fn program_launch(program: impl AsRef<Path>) -> Launch {
        Launch::new(program.as_ref()).args(PROTOCOL_ARGS)
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

    /// Sets how long the program may take to exit when its session is closed; then it is killed. About 8 s by default.
    #[must_use]
    pub fn close_timeout(self, after: Duration) -> Self {
        self.set_up(Setup::CloseTimeout(after))
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

    /// Returns whether the agent logs its turns in this process.
    pub(crate) fn is_logged(&self) -> bool {
        matches!(&self.source, Source::Connector(connector) if connector.is_logged())
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
            Self::CloseTimeout(after) => {
                launch.grace(after.mul_f32(0.75)).grace_after_term(after.mul_f32(0.25))
            }
        }
    }
}

/// Returns an environment variable, unless it is empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_of_the_environment_is_that_of_the_command_line() {
        let program = |variables: &[(&str, &str)]| {
            let find = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            };
            match Agent::named(&find).source {
                Source::Program { program, .. } => program.to_string_lossy().into_owned(),
                _ => String::new(),
            }
        };
        assert_eq!(program(&[]), "droid");
        assert_eq!(program(&[("MUSHER_AGENT", "droid"), ("MUSHER_DROID", "/opt/droid")]), "/opt/droid");
        assert_eq!(program(&[("MUSHER_AGENT", "engine")]), "musher");
        assert_eq!(program(&[("MUSHER_AGENT", "engine"), ("MUSHER_ENGINE", "/opt/musher")]), "/opt/musher");
        assert_eq!(program(&[("MUSHER_AGENT", "/opt/other"), ("MUSHER_DROID", "/opt/droid")]), "/opt/other");
    }
}
