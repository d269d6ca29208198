//! Errors of the store.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::{InvalidId, SessionId};

/// Error of a store operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The text is not a valid session id.
    #[error(transparent)]
    InvalidId(#[from] InvalidId),
    /// The session does not exist.
    #[error("session {0} not found")]
    NotFound(SessionId),
    /// A session with this id already exists.
    #[error("session {0} already exists")]
    Exists(SessionId),
    /// Another process owns the session. It can still be read.
    #[error("session {id} is running in {}", .holder.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}")))]
    Locked {
        /// Id of the session.
        id: SessionId,
        /// The process that has the lease, if known.
        holder: Option<u32>,
    },
    /// This process does not own the session, or another one has taken it over. Nothing was written.
    #[error("session {id} is not owned by this process")]
    NotOwned {
        /// Id of the session.
        id: SessionId,
    },
    /// Another daemon serves this home.
    #[error("a daemon already runs on this home{}", .pid.map_or_else(String::new, |pid| format!(" (process {pid})")))]
    DaemonRuns {
        /// Its process, if known.
        pid: Option<u32>,
    },
    /// The session has no message with this id.
    #[error("session {id} has no message {message}")]
    NoMessage {
        /// Id of the session.
        id: SessionId,
        /// Id of the message.
        message: String,
    },
    /// A file operation failed.
    #[error("cannot {action} `{}`", .path.display())]
    Io {
        /// The operation, such as `read`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Result of store operations.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Adds the operation and the path to an IO error.
pub(super) trait At<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| StoreError::Io { action, path: path.to_owned(), source })
    }
}

impl StoreError {
    /// Displays the error with its cause, for logs and messages. `Display` leaves the cause to [`source`](std::error::Error::source).
    pub fn with_causes(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(move |f| match self {
            Self::Io { source, .. } => write!(f, "{self}: {source}"),
            _ => write!(f, "{self}"),
        })
    }

    /// Returns whether the disk is full, so that the operation may succeed later.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { source, .. } if matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn io_error_leaves_its_cause_to_the_source() {
        let failed: io::Result<()> = Err(io::Error::other("disk on fire"));
        let error = failed.at("read", Path::new("/log")).unwrap_err();
        assert_eq!(error.to_string(), "cannot read `/log`");
        assert_eq!(error.source().unwrap().to_string(), "disk on fire");
        assert_eq!(error.with_causes().to_string(), "cannot read `/log`: disk on fire");
    }
}
