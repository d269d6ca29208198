//! How a run of the program ends: the exit codes, and failures with hints.

use std::io;
use std::process::ExitCode;

use crate::agent_error;

/// The exit codes; scripts rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All done.
    Done = 0,
    /// The task failed.
    Failed = 1,
    /// Wrong usage, or something is not set up.
    Setup = 2,
    /// Permission was denied.
    Refused = 3,
    /// The model refused to answer.
    ModelRefused = 4,
    /// The terminal was closed before a task was done.
    HungUp = 129,
    /// The user stopped a task before it was done.
    Interrupted = 130,
    /// The program was terminated before a task was done.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: anyhow::Error,
    pub(crate) hints: Vec<String>,
    pub(crate) exit: Exit,
}

impl Failure {
    /// Creates a failure after which the user has to change the command line, a file or the machine.
    pub(crate) fn setup(error: impl Into<anyhow::Error>) -> Self {
        Self::with_exit(error.into(), Exit::Setup)
    }

    fn with_exit(error: anyhow::Error, exit: Exit) -> Self {
        let hints = agent_error::hint(&error).into_iter().collect();
        Self { error, hints, exit }
    }

    /// Adds what the user can do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns whether the reader of our output went away, which is not a failure.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.error.chain().any(|cause| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
        })
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::with_exit(error.into(), Exit::Failed)
    }
}
