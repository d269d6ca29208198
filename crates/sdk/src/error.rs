//! Errors, in the classes that callers distinguish.
//!
//! The type is opaque so that new causes can be added without breaking callers. A failed turn is not an
//! error: it has a [`TurnResult`](crate::TurnResult) that says so.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use musher_rpc::{Closed, Exit};
use musher_wire::{RpcError, ShapeError};

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a call failed.
///
/// `Display` prints what failed; [`source`](StdError::source) is the cause. [`with_causes`](Error::with_causes) prints the whole chain of causes.
///
/// ```
/// # async fn example() {
/// match musher::Session::resume("no-such-session").open().await {
///     Err(error) if error.is_session_not_found() => println!("start a new one"),
///     Err(error) if error.is_connection() => println!("is droid installed? {}", error.with_causes()),
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

/// The class of an [`Error`], with its details.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// The agent could not be started or reached.
    Connection {
        /// The program that could not be started, if the agent is one.
        program: Option<PathBuf>,
    },
    /// The agent's process ended unexpectedly.
    ProcessExit {
        /// The exit code, if the process exited.
        code: Option<i32>,
        /// The signal that ended the process, if one did.
        signal: Option<i32>,
        /// The end of its stderr output.
        stderr: String,
    },
    /// The agent refused a call, or its answer breaks the protocol.
    Protocol {
        /// The method that was called.
        method: Option<String>,
        /// The code of the agent's error response.
        code: Option<i64>,
    },
    /// There is no such session.
    SessionNotFound {
        /// The requested id.
        session_id: String,
    },
    /// The session cannot do this now: it is closed, or busy.
    Session,
    /// The agent did not answer in time.
    Timeout {
        /// The expected answer or event.
        what: String,
        /// The timeout.
        after: Duration,
    },
    /// An argument is invalid; nothing was sent.
    InvalidInput,
    /// The answer does not match the schema.
    Output {
        /// The raw answer.
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

    /// Returns whether the program that is missing is droid.
    fn is_missing_droid(&self) -> bool {
        matches!(self.kind(), Kind::Connection { program: Some(program) } if program.file_name().is_some_and(|name| name == "droid"))
    }

    /// Returns whether a program was found and may not be run.
    fn is_not_executable(&self) -> bool {
        let spawn = self.0.source.downcast_ref::<musher_rpc::Error>();
        matches!(spawn, Some(musher_rpc::Error::Spawn { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied)
    }

    /// Returns the error with all its causes in one line, joined by `: `, for logs and messages.
    pub fn with_causes(&self) -> impl fmt::Display + '_ {
        musher_rpc::with_causes(self)
    }

    /// Returns the class of the error.
    pub fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// Returns whether the agent could not be started or reached, or has ended.
    pub fn is_connection(&self) -> bool {
        matches!(self.kind(), Kind::Connection { .. } | Kind::ProcessExit { .. })
    }

    /// Returns whether the agent's process ended.
    pub fn is_process_exit(&self) -> bool {
        matches!(self.kind(), Kind::ProcessExit { .. })
    }

    /// Returns whether the connection to a daemon broke before a call was confirmed, and the call was not carried out as far as
    /// the daemon tells. A prompt with this error is not in its session.
    pub fn is_disconnected(&self) -> bool {
        matches!(self.kind(), Kind::Protocol { code: Some(RpcError::DISCONNECTED), .. })
    }

    /// Returns whether the agent refused a call, or broke the protocol.
    pub fn is_protocol(&self) -> bool {
        matches!(self.kind(), Kind::Protocol { .. })
    }

    /// Returns whether the session does not exist.
    pub fn is_session_not_found(&self) -> bool {
        matches!(self.kind(), Kind::SessionNotFound { .. })
    }

    /// Returns whether the agent did not answer in time.
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind(), Kind::Timeout { .. })
    }

    /// Returns whether an argument is invalid.
    pub fn is_invalid_input(&self) -> bool {
        matches!(self.kind(), Kind::InvalidInput)
    }

    /// Returns whether the agent does not know the method that was called. Old versions lack some.
    pub fn is_unsupported(&self) -> bool {
        // 0.99 and older use -32600 for every refusal
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
                if self.is_not_executable() {
                    return write!(f, "cannot start the agent `{program}`: the file is not executable");
                }
                write!(f, "cannot start the agent `{program}`: install it, or name another program")?;
                // the agent that needs nothing but this project
                if self.is_missing_droid() {
                    f.write_str(" (`Agent::engine()` is musher's own)")
                } else {
                    Ok(())
                }
            }
            Kind::Connection { program: None } if self.0.source.is::<Closed>() => {
                f.write_str("lost the connection to the agent")
            }
            Kind::Connection { program: None } => f.write_str("cannot connect to the agent"),
            Kind::ProcessExit { .. } => f.write_str("the agent ended"),
            Kind::Protocol { .. } => f.write_str("the agent refused"),
            Kind::SessionNotFound { session_id } => write!(f, "unknown session `{session_id}`"),
            Kind::Session => f.write_str("the session cannot do this"),
            Kind::Timeout { what, after } => write!(f, "timed out after {after:?} waiting for {what}"),
            Kind::InvalidInput => f.write_str("invalid input"),
            Kind::Output { .. } => f.write_str("the answer does not have the form that was asked for"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.0.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_prints_failure_and_its_sources_are_the_causes() {
        let error = Error::invalid_input("`x` is not a directory");
        assert_eq!(error.to_string(), "invalid input");
        assert_eq!(error.source().unwrap().to_string(), "`x` is not a directory");
        assert_eq!(error.with_causes().to_string(), "invalid input: `x` is not a directory");
    }

    #[test]
    fn cause_that_is_printed_already_is_not_repeated() {
        let refusal = RpcError::new(-32603, "no model");
        let rpc = musher_rpc::Error::Rpc { method: "droid.x".into(), source: refusal };
        let text = Error::from(rpc).with_causes().to_string();
        assert_eq!(text.matches("no model").count(), 1, "{text}");
    }
}
