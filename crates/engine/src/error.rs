//! What can go wrong in an engine.

use std::path::PathBuf;

/// Why a command was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No session is open.
    #[error("No active session. Call initialize_session or load_session first.")]
    NoSession,
    /// There is no such session.
    #[error("Session not found")]
    SessionNotFound,
    /// The folder to work in is not there.
    #[error("Working directory does not exist: {}", .0.display())]
    NoDirectory(PathBuf),
    /// The client asked for something that cannot be.
    #[error("{0}")]
    Invalid(String),
    /// Something failed on our side or on the disk.
    #[error("{0}")]
    Internal(String),
}

/// Too much waits already; the same can be asked again later.
#[derive(Debug, thiserror::Error)]
#[error("too many requests wait for an answer")]
pub struct Busy;
