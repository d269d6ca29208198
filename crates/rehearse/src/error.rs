//! The errors of this crate, except for faults that a script requests.
//!
//! Faults that a script plays (errors, cuts, hangs) are data, never an [`Error`].

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A script is malformed or has the wrong shape.
    #[error("{name}:{line}:{column}: {message}")]
    Script {
        /// The path of the file as given, or a name for a script that is not a file.
        name: String,
        /// The line of the mistake, from 1.
        line: u64,
        /// The column of the mistake, from 1.
        column: u64,
        /// What is wrong.
        message: String,
    },
    /// A script file could not be read.
    #[error("cannot read the script")]
    ReadScript(#[source] io::Error),
    /// A pattern is not a valid regular expression.
    #[error("invalid regular expression `{pattern}`: {message}")]
    Pattern {
        /// The pattern as given.
        pattern: String,
        /// The message of the regex parser.
        message: String,
    },
    /// The listening socket could not be created.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address as given.
        address: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The address is reachable from other machines, and [`ServerBuilder::allow_remote`](crate::ServerBuilder::allow_remote) was not
    /// called.
    #[error("{0} is not a loopback address: other machines on the network could use the scripted model")]
    NotLoopback(SocketAddr),
    /// A server needs a tokio runtime.
    #[error("no tokio runtime: start the server from within one")]
    NoRuntime,
    /// The directory for recorded requests could not be used.
    #[error("cannot record requests in {}", directory.display())]
    Record {
        /// The directory.
        directory: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Fewer requests arrived than expected.
    #[error("timed out after {waited:?} waiting for {wanted}; received {seen} requests")]
    Deadline {
        /// How long it waited.
        waited: Duration,
        /// What it waited for.
        wanted: String,
        /// The number of requests that had arrived.
        seen: u64,
    },
}
