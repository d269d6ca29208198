//! What can go wrong with sessions on disk.

use std::io;
use std::path::{Path, PathBuf};

use super::{InvalidId, SessionId};

/// Why a session could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// That is no id.
    #[error(transparent)]
    InvalidId(#[from] InvalidId),
    /// There is no such session.
    #[error("session {0} not found")]
    NotFound(SessionId),
    /// There is such a session already.
    #[error("session {0} exists already")]
    Exists(SessionId),
    /// Somebody else writes it. It can still be read.
    #[error("session {id} is in use{}", .holder.map(|pid| format!(" by process {pid}")).unwrap_or_default())]
    Locked {
        /// The session.
        id: SessionId,
        /// The process that has it, if that is known.
        holder: Option<u32>,
    },
    /// There is no such message in the session.
    #[error("session {id} has no message {message}")]
    NoMessage {
        /// The session.
        id: SessionId,
        /// The message.
        message: String,
    },
    /// The disk said no.
    #[error("could not {action} `{}`: {source}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What the store returns.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Says what was tried when the disk says no.
pub(super) trait At<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| StoreError::Io { action, path: path.to_owned(), source })
    }
}

impl StoreError {
    /// Whether the disk is full, so that the same may work later.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { source, .. } if matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        ))
    }
}
