//! What can go wrong in an engine.

use std::fmt;
use std::path::PathBuf;

use crate::config::Problem;
use musher_store::StoreError;

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
    /// The client requested something impossible.
    #[error("{0}")]
    Invalid(String),
    /// Another process runs a turn of the session, or changes it.
    #[error("{0}")]
    Running(StoreError),
    /// Settings cannot be read or understood, and may restrict what a session may do.
    #[error(transparent)]
    Settings(#[from] BrokenSettings),
    /// Something failed on our side or on the disk.
    #[error("{0}")]
    Internal(String),
}

impl From<musher_mcp::Error> for Error {
    fn from(error: musher_mcp::Error) -> Self {
        match error {
            musher_mcp::Error::Invalid(why) => Self::Invalid(why),
            error => Self::Internal(error.to_string()),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Locked { .. } => Self::Running(error),
            StoreError::NotFound(_) => Self::SessionNotFound,
            error => Self::Internal(error.with_causes().to_string()),
        }
    }
}

/// Too much waits already; the same can be asked again later.
#[derive(Debug, thiserror::Error)]
#[error("too many requests wait for an answer")]
pub struct Busy;

/// The fatal problems of settings files: at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenSettings(Vec<Problem>);

impl BrokenSettings {
    /// Returns the fatal ones among problems, if there are any.
    pub fn among(problems: &[Problem]) -> Option<Self> {
        let fatal: Vec<Problem> = problems.iter().filter(|problem| problem.is_fatal()).cloned().collect();
        (!fatal.is_empty()).then_some(Self(fatal))
    }

    /// Returns the problems.
    pub fn problems(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for BrokenSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot start with these settings:")?;
        let mut problems = self.0.iter().peekable();
        while let Some(problem) = problems.next() {
            write!(f, "\n  {problem}")?;
            // the same advice for several problems is given once
            if problems.peek().is_none_or(|next| next.advice() != problem.advice()) {
                write!(f, "\n  -> {}", problem.advice())?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for BrokenSettings {}
