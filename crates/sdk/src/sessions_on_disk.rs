//! Reads stored sessions without starting an agent: the list of sessions, and the records of one session in the wire's form.
//!
//! `musher-store` knows where sessions are, how they are named and what their records are. Nothing is written, and reading is lenient: a
//! file that is damaged, half written, archived or not a session is skipped, and a damaged line of a conversation is skipped and
//! counted. All reads are bounded.

mod conversation;
mod list;
mod record;

use std::path::{Path, PathBuf};

pub use conversation::{ReadSession, StoredConversation, read_session};
pub use list::{ListSessions, StoredSession, list_sessions};
pub use record::StoredRecord;

use musher_store::Store;

use crate::{Error, Result};

/// Returns the sessions directory: the given one, or the agent's own by default.
fn sessions_root(given: Option<&Path>) -> Result<PathBuf> {
    match given {
        Some(folder) => Ok(folder.to_owned()),
        None => {
            std::env::home_dir().map(|home| Store::sessions_dir(home.join(".factory"))).ok_or_else(|| {
                Error::invalid_input("the home directory is not known; name the sessions' folder")
            })
        }
    }
}

/// Runs blocking disk IO on a thread that may block.
async fn off_the_runtime<T: Send + 'static>(job: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(job).await {
        Ok(result) => result,
        Err(_gone) => Err(Error::session("the runtime shut down")),
    }
}

#[cfg(test)]
mod tests;
