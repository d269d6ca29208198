//! What can go wrong with a call or a connection, as values the caller can decide on.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use musher_wire::{Malformed, RpcError, ShapeError, Word};

use crate::Exit;

/// Why a call did not succeed or a connection was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The peer answered with an error.
    #[error("`{method}` was refused: {source}")]
    Rpc {
        /// The method that was called.
        method: Word,
        /// The peer's error object.
        source: RpcError,
    },
    /// The peer answered, but what came is no message.
    #[error("the answer to `{method}` is not valid: {}", malformed.reason)]
    Malformed {
        /// The method that was called.
        method: Word,
        /// What came.
        malformed: Box<Malformed>,
    },
    /// The arguments or the answer of a call are not of the shape its method promises.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// No answer came in time.
    #[error("no answer to `{method}` within {after:?}")]
    Timeout {
        /// The method that was called.
        method: Word,
        /// How long we waited.
        after: Duration,
    },
    /// The connection is over.
    #[error(transparent)]
    Closed(#[from] Closed),
    /// A program could not be started.
    #[error("cannot start `{}`{}", program.display(), in_folder(cwd.as_ref()))]
    Spawn {
        /// The program as it was given.
        program: PathBuf,
        /// The folder it should have started in.
        cwd: Option<PathBuf>,
        /// What the system says.
        source: io::Error,
    },
    /// A WebSocket connection could not be made.
    #[error("cannot connect to `{url}`")]
    Connect {
        /// The address as it was given.
        url: String,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A WebSocket handshake with a client did not succeed.
    #[error("cannot accept the WebSocket connection")]
    Accept {
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why a connection is over. The same value for everyone who asks.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// The peer ended the connection in an orderly way.
    #[error("the peer closed the connection")]
    Ended,
    /// We closed it ourselves.
    #[error("the connection was closed on this side")]
    Local,
    /// Reading or writing failed.
    #[error("the connection broke: {0}")]
    Broken(Arc<io::Error>),
    /// The program at the other end exited. Status 0 is no success if somebody still waited for an answer.
    #[error(transparent)]
    Exited(Arc<Exit>),
    /// The peer sent a WebSocket message beyond the limit; such a connection cannot go on.
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
        /// How long.
        after: Duration,
    },
}

impl Closed {
    /// The exit of the program at the other end, if that was the reason.
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

fn in_folder(cwd: Option<&PathBuf>) -> impl fmt::Display {
    fmt::from_fn(move |f| cwd.map_or(Ok(()), |cwd| write!(f, " in `{}`", cwd.display())))
}

fn because(reason: &str) -> impl fmt::Display {
    fmt::from_fn(move |f| if reason.is_empty() { Ok(()) } else { write!(f, ": {reason}") })
}
