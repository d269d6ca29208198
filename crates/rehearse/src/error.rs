//! Everything that can go wrong in this crate, outside of the faults a script asks for.
//!
//! Faults which a script plays (errors, cuts, hangs) are data, never an [`Error`].

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A script is not well formed or not of the right shape.
    #[error("{name}:{line}:{column}: {message}")]
    Script {
        /// The file's path as given, or a name for a script that is no file.
        name: String,
        /// Line of the mistake, from 1.
        line: u64,
        /// Column of the mistake, from 1.
        column: u64,
        /// What is wrong there.
        message: String,
    },
    /// A script file could not be read.
    #[error("cannot read the script")]
    ReadScript(#[source] io::Error),
    /// A pattern is not a valid regular expression.
    #[error("`{pattern}` is not a regular expression: {message}")]
    Pattern {
        /// The pattern as given.
        pattern: String,
        /// What the regex parser says.
        message: String,
    },
    /// The listening socket could not be made.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address as given.
        address: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The address is reachable from other machines and nobody said that this is wanted.
    #[error("{0} is not a loopback address: anyone on the network could use the scripted model")]
    NotLoopback(SocketAddr),
    /// A server needs a tokio runtime around it.
    #[error("no tokio runtime: start the server from inside one")]
    NoRuntime,
    /// The directory for recorded requests could not be used.
    #[error("cannot record requests in {}", directory.display())]
    Record {
        /// The directory.
        directory: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Fewer requests came than waited for.
    #[error("waited {waited:?} for {wanted}, saw {seen} requests")]
    Deadline {
        /// How long was waited.
        waited: Duration,
        /// What was waited for.
        wanted: String,
        /// How many requests had come by then.
        seen: u64,
    },
}
