//! The errors of a session.

use std::sync::Arc;
use std::time::Duration;

use musher_rpc::{Closed, Exit};

use crate::Refusal;

/// Why a session did not start, or a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program could not be started.
    #[error(transparent)]
    Spawn(#[from] musher_rpc::Error),
    /// A file that the program needs could not be written.
    #[error("cannot write a file for the CLI")]
    Prepare(#[source] std::io::Error),
    /// The program ended.
    #[error(transparent)]
    Exited(Arc<Exit>),
    /// The CLI ended the session before it started, for example because the session to resume does not exist.
    #[error("cannot start the session: {message}")]
    NotStarted {
        /// The message of the CLI.
        message: String,
        /// How the program ended, if it did.
        exit: Option<Arc<Exit>>,
    },
    /// The CLI responded to a call with an error.
    #[error("the CLI rejected `{call}`")]
    Refused {
        /// The name of the call.
        call: String,
        /// The error of the CLI.
        source: Refusal,
    },
    /// The CLI did not respond in time.
    #[error("timed out after {after:?} waiting for the response to `{call}`")]
    Timeout {
        /// The name of the call.
        call: String,
        /// The time waited.
        after: Duration,
    },
    /// A response does not have the expected shape.
    #[error("cannot read the response to `{call}`")]
    Shape {
        /// The name of the call.
        call: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The CLI does not read its input.
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

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn rejection_leaves_its_cause_to_the_source() {
        let source = Refusal { message: "no such model".to_owned(), code: None };
        let error = Error::Refused { call: "set_model".to_owned(), source };
        assert_eq!(error.to_string(), "the CLI rejected `set_model`");
        assert_eq!(error.source().unwrap().to_string(), "no such model");
    }
}
