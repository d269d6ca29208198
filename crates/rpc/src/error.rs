//! Errors of calls, and the reasons why connections end.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use musher_wire::{Malformed, RpcError, ShapeError, Word};

use crate::Exit;

/// Why a call or the start of a connection failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The peer answered with an error.
    #[error("`{method}` was refused")]
    Rpc {
        /// The method that was called.
        method: Word,
        /// The peer's error object.
        source: RpcError,
    },
    /// The response of the peer is malformed.
    #[error("the answer to `{method}` is not valid: {}", malformed.reason)]
    Malformed {
        /// The method that was called.
        method: Word,
        /// The response.
        malformed: Box<Malformed>,
    },
    /// The arguments or the result of a call do not have the shape that its method defines.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// No response came in time.
    #[error("no answer to `{method}` within {after:?}")]
    Timeout {
        /// The method that was called.
        method: Word,
        /// The timeout.
        after: Duration,
    },
    /// The connection is closed.
    #[error(transparent)]
    Closed(#[from] Closed),
    /// A program could not be started.
    #[error("cannot start `{}`{}", program.display(), in_folder(cwd.as_ref()))]
    Spawn {
        /// The program as it was given.
        program: PathBuf,
        /// The folder in which it was to start.
        cwd: Option<PathBuf>,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A WebSocket server could not be reached.
    #[error("cannot connect to `{url}`")]
    Connect {
        /// The address as it was given.
        url: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A WebSocket handshake with a client failed.
    #[error("cannot accept the WebSocket connection")]
    Accept {
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why a connection is closed. All users of a connection get the same reason.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// The peer ended the connection in an orderly way.
    #[error("the peer closed the connection")]
    Ended,
    /// This side closed it.
    #[error("the connection was closed on this side")]
    Local,
    /// Reading or writing failed.
    #[error("the connection broke")]
    Broken(#[source] Arc<io::Error>),
    /// The program at the other end exited. For a pending call this is a failure even with status 0.
    #[error(transparent)]
    Exited(Arc<Exit>),
    /// The peer sent a WebSocket message beyond the limit; the connection cannot continue after it.
    #[error("the peer sent a message longer than {limit} bytes")]
    TooBig {
        /// The limit in bytes.
        limit: usize,
    },
    /// The peer closed the WebSocket with a reason.
    #[error("the peer closed the connection with code {code}{}", because(reason))]
    WebSocket {
        /// The close code.
        code: u16,
        /// The text that came with it.
        reason: Arc<str>,
    },
    /// The peer took or sent nothing for too long.
    #[error("the peer was silent for {after:?}")]
    Silent {
        /// The timeout.
        after: Duration,
    },
}

impl Closed {
    /// Returns the exit of the program at the other end, if that was the reason.
    pub fn exit(&self) -> Option<&Exit> {
        match self {
            Self::Exited(exit) => Some(exit),
            _ => None,
        }
    }
}

impl From<io::Error> for Closed {
    fn from(error: io::Error) -> Self {
        Self::Broken(Arc::new(error))
    }
}

/// Displays an error with all its causes in one line, joined by `: `, for logs and messages. A cause that was displayed is not repeated.
///
/// ```
/// let cut = musher_rpc::Closed::from(std::io::Error::other("cut"));
/// assert_eq!(cut.to_string(), "the connection broke");
/// assert_eq!(musher_rpc::with_causes(&cut).to_string(), "the connection broke: cut");
/// ```
pub fn with_causes<'a>(error: &'a (dyn std::error::Error + 'static)) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        let mut last = error.to_string();
        f.write_str(&last)?;
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // errors of other crates may print their cause themselves
            if !last.contains(&text) {
                write!(f, ": {text}")?;
                last = text;
            }
            source = cause.source();
        }
        Ok(())
    })
}

fn in_folder(cwd: Option<&PathBuf>) -> impl fmt::Display {
    fmt::from_fn(move |f| cwd.map_or(Ok(()), |cwd| write!(f, " in `{}`", cwd.display())))
}

fn because(reason: &str) -> impl fmt::Display {
    fmt::from_fn(move |f| if reason.is_empty() { Ok(()) } else { write!(f, ": {reason}") })
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn errors_leave_their_cause_to_the_source() {
        let source = RpcError::new(-32603, "no model");
        let refused = Error::Rpc { method: "droid.x".into(), source };
        assert_eq!(refused.to_string(), "`droid.x` was refused");
        assert_eq!(refused.source().unwrap().to_string(), "no model (code -32603)");
        let broken = Error::from(Closed::from(io::Error::other("cut")));
        assert_eq!(broken.to_string(), "the connection broke");
        assert_eq!(broken.source().unwrap().to_string(), "cut");
    }
}
