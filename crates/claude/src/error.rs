//! What can go wrong with a session.

use std::sync::Arc;
use std::time::Duration;

use musher_rpc::{Closed, Exit};

use crate::Refusal;

/// Why a session did not start, or a call did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program could not be started.
    #[error(transparent)]
    Spawn(#[from] musher_rpc::Error),
    /// A file the program needs could not be written.
    #[error("cannot write a file for the CLI")]
    Prepare(#[source] std::io::Error),
    /// The program ended.
    #[error(transparent)]
    Exited(Arc<Exit>),
    /// The CLI ended the session before it began, for example because there is none with the id to resume.
    #[error("the session did not begin: {message}")]
    NotBegun {
        /// What the CLI says.
        message: String,
        /// How the program ended, if it did.
        exit: Option<Arc<Exit>>,
    },
    /// The CLI answered a call with an error.
    #[error("`{call}` was refused: {source}")]
    Refused {
        /// The call.
        call: String,
        /// What the CLI says.
        source: Refusal,
    },
    /// No answer came in time.
    #[error("no answer to `{call}` within {after:?}")]
    Timeout {
        /// The call.
        call: String,
        /// How long we waited.
        after: Duration,
    },
    /// An answer has another shape than expected.
    #[error("the answer to `{call}` cannot be read")]
    Shape {
        /// The call.
        call: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The CLI does not read what it is sent.
    #[error("the CLI does not read its input")]
    Stuck,
    /// The session was closed.
    #[error("the session is closed")]
    Closed,
}

impl From<Closed> for Error {
    fn from(closed: Closed) -> Self {
        match closed {
            Closed::Exited(exit) => Self::Exited(exit),
            _ => Self::Closed,
        }
    }
}
