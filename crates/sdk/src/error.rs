//! What can go wrong, in the classes a caller decides by.
//!
//! The type is opaque so that new causes can be told apart later without breaking anyone. A turn that went wrong is not an
//! error: it is a [`TurnResult`](crate::TurnResult) that says so.

use std::error::Error as StdError;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use musher_rpc::{Closed, Exit};
use musher_wire::{RpcError, ShapeError};

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed.
///
/// ```
/// # async fn example() {
/// match musher::Session::resume("no-such-session").open().await {
///     Err(error) if error.is_session_not_found() => println!("start a new one"),
///     Err(error) if error.is_connection() => println!("is droid installed? {error}"),
///     other => println!("{other:?}"),
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: Kind,
    source: Box<dyn StdError + Send + Sync>,
}

/// The class of an [`Error`], with what is known about it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// The agent could not be started or reached.
    Connection {
        /// The program that should have been started.
        program: Option<PathBuf>,
    },
    /// The agent ended while we still needed it.
    ProcessExit {
        /// Its exit code, if it had one.
        code: Option<i32>,
        /// The signal that ended it, if one did.
        signal: Option<i32>,
        /// The last it wrote to stderr.
        stderr: String,
    },
    /// The agent refused a call, or answered it with something else than the protocol promises.
    Protocol {
        /// The method that was called.
        method: Option<String>,
        /// The code of the agent's error.
        code: Option<i64>,
    },
    /// There is no such session.
    SessionNotFound {
        /// The id that was asked for.
        session_id: String,
    },
    /// The session cannot do this now: it is closed, or busy.
    Session,
    /// Nothing came in time.
    Timeout {
        /// What was waited for.
        what: String,
        /// How long.
        after: Duration,
    },
    /// What we were given is not usable; nothing was sent.
    InvalidInput,
    /// The answer does not have the form that was asked for.
    Output {
        /// The answer as it came.
        raw: String,
    },
}

impl Error {
    pub(crate) fn because(kind: Kind, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(Box::new(Inner { kind, source: source.into() }))
    }

    pub(crate) fn invalid_input(message: impl Into<String>) -> Self {
        Self::because(Kind::InvalidInput, message.into())
    }

    pub(crate) fn session(message: &'static str) -> Self {
        Self::because(Kind::Session, message)
    }

    pub(crate) fn closed(closed: Closed) -> Self {
        let kind = closed.exit().map_or(Kind::Connection { program: None }, exit_kind);
        Self::because(kind, closed)
    }

    pub(crate) fn shape(error: ShapeError) -> Self {
        Self::because(Kind::Protocol { method: Some(error.method.to_string()), code: None }, error)
    }

    /// Its class.
    pub fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// Whether the agent could not be started or reached, or is gone.
    pub fn is_connection(&self) -> bool {
        matches!(self.kind(), Kind::Connection { .. } | Kind::ProcessExit { .. })
    }

    /// Whether the agent's process ended.
    pub fn is_process_exit(&self) -> bool {
        matches!(self.kind(), Kind::ProcessExit { .. })
    }

    /// Whether the agent refused a call, or broke the protocol.
    pub fn is_protocol(&self) -> bool {
        matches!(self.kind(), Kind::Protocol { .. })
    }

    /// Whether there is no such session.
    pub fn is_session_not_found(&self) -> bool {
        matches!(self.kind(), Kind::SessionNotFound { .. })
    }

    /// Whether nothing came in time.
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind(), Kind::Timeout { .. })
    }

    /// Whether what we were given is not usable.
    pub fn is_invalid_input(&self) -> bool {
        matches!(self.kind(), Kind::InvalidInput)
    }

    /// Whether the agent does not know the method that was called. Old versions lack some.
    pub fn is_unsupported(&self) -> bool {
        // 0.99 and older say -32600 for everything they do not like
        let codes = [RpcError::METHOD_NOT_FOUND, RpcError::INVALID_REQUEST];
        matches!(self.kind(), Kind::Protocol { code: Some(code), .. } if codes.contains(code))
    }
}

fn exit_kind(exit: &Exit) -> Kind {
    #[cfg(unix)]
    let signal = exit.status.and_then(|status| std::os::unix::process::ExitStatusExt::signal(&status));
    #[cfg(not(unix))]
    let signal = None;
    let code = exit.status.and_then(|status| status.code());
    Kind::ProcessExit { code, signal, stderr: exit.stderr_tail.clone() }
}

impl From<musher_rpc::Error> for Error {
    fn from(error: musher_rpc::Error) -> Self {
        use musher_rpc::Error as Rpc;
        let kind = match &error {
            Rpc::Rpc { method, source } => {
                Kind::Protocol { method: Some(method.to_string()), code: Some(source.code) }
            }
            Rpc::Malformed { method, .. } => Kind::Protocol { method: Some(method.to_string()), code: None },
            Rpc::Timeout { method, after } => {
                Kind::Timeout { what: format!("the answer to `{method}`"), after: *after }
            }
            Rpc::Closed(closed) => return Self::closed(closed.clone()),
            Rpc::Spawn { program, .. } => Kind::Connection { program: Some(program.clone()) },
            _ => Kind::Connection { program: None },
        };
        Self::because(kind, error)
    }
}

impl From<Closed> for Error {
    fn from(closed: Closed) -> Self {
        Self::closed(closed)
    }
}

impl From<ShapeError> for Error {
    fn from(error: ShapeError) -> Self {
        Self::shape(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::Connection { program: Some(program) } => {
                let program = program.display();
                write!(f, "cannot start the agent `{program}`: install it, or name another program")
            }
            Kind::Connection { program: None } => f.write_str("the connection to the agent is gone"),
            Kind::ProcessExit { .. } => f.write_str("the agent ended"),
            Kind::Protocol { .. } => f.write_str("the agent refused"),
            Kind::SessionNotFound { session_id } => write!(f, "there is no session `{session_id}`"),
            Kind::Session => f.write_str("the session cannot do this"),
            Kind::Timeout { what, after } => write!(f, "{what} did not come within {after:?}"),
            Kind::InvalidInput => f.write_str("invalid input"),
            Kind::Output { .. } => f.write_str("the answer does not have the form that was asked for"),
        }?;
        // one line for who prints only this; the chain has the details
        write!(f, ": {}", self.0.source)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        // its text is part of ours already, so the chain goes on below it
        self.0.source.source()
    }
}
