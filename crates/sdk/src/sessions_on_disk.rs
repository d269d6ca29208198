//! Sessions as the agent keeps them on disk, read without starting one: which there are, and what was said in them.
//!
//! It reads only, and it is lenient: a file that is damaged, half written, archived or no session at all is passed over, and a
//! damaged line of a conversation is skipped and counted. All reads are bounded, whatever lies there.

mod conversation;
mod folder;
mod list;
mod record;

use std::path::{Path, PathBuf};

pub use conversation::{ReadSession, StoredConversation, read_session};
pub use list::{ListSessions, StoredSession, list_sessions};
pub use record::StoredRecord;

use crate::{Error, Result};

/// Where sessions are: in the given folder, or in the agent's own.
fn sessions_root(given: Option<&Path>) -> Result<PathBuf> {
    match given {
        Some(folder) => Ok(folder.to_owned()),
        None => std::env::home_dir().map(|home| home.join(".factory").join("sessions")).ok_or_else(|| {
            Error::invalid_input("the home directory is not known; name the sessions' folder")
        }),
    }
}

/// Runs what waits for the disk where waiting is allowed.
async fn off_the_runtime<T: Send + 'static>(job: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(job).await {
        Ok(result) => result,
        Err(_gone) => Err(Error::session("the runtime shut down")),
    }
}

#[cfg(test)]
mod tests;
