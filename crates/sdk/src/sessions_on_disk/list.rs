//! The list of stored sessions.

use std::collections::HashSet;
use std::future::{Future, IntoFuture};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::SystemTime;

use musher_store::{Store, Summary};

use super::{off_the_runtime, sessions_root};
use crate::Result;

/// Lists the sessions on disk without starting an agent: by default those of the current directory, newest first.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let sessions_folder = folder.path();
/// let sessions = musher::list_sessions().cwd("/workspace").limit(10).sessions_dir(sessions_folder).await?;
/// for session in sessions {
///     println!("{}: {}", session.id, session.session_title.unwrap_or(session.title));
/// }
/// # Ok(()) }
/// ```
pub fn list_sessions() -> ListSessions {
    ListSessions {
        cwd: PathBuf::from("."),
        is_everywhere: false,
        is_used_only: false,
        limit: usize::MAX,
        folder: None,
    }
}

/// A list of sessions on disk, not read yet. Await it, or call [`blocking`](Self::blocking).
#[derive(Debug, Clone)]
#[must_use = "nothing is read before it is awaited"]
pub struct ListSessions {
    cwd: PathBuf,
    is_everywhere: bool,
    is_used_only: bool,
    limit: usize,
    folder: Option<PathBuf>,
}

/// A session on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// The id, for [`Session::resume`](crate::Session::resume).
    pub id: String,
    /// The beginning of the first prompt, or a title made from it.
    pub title: String,
    /// The title that the user or a client set.
    pub session_title: Option<String>,
    /// The owner; empty if unknown.
    pub owner: String,
    /// The number of records of the conversation: messages, and notes between them.
    pub message_count: usize,
    /// The time of the last message.
    pub modified: SystemTime,
    /// The time of creation.
    pub created: SystemTime,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// Further folders of its workspace.
    pub additional_directories: Vec<PathBuf>,
    /// Whether the user marked it as a favorite.
    pub is_favorite: bool,
}

impl ListSessions {
    /// Lists the sessions of this directory; the current directory by default.
    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        cwd.as_ref().clone_into(&mut self.cwd);
        self
    }

    /// Lists the sessions of all directories.
    pub fn outside_cwd(mut self) -> Self {
        self.is_everywhere = true;
        self
    }

    /// Omits sessions that were created, but never used.
    pub fn used_only(mut self) -> Self {
        self.is_used_only = true;
        self
    }

    /// Sets the maximum number of sessions; the newest are returned.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the directory of the stored sessions; `~/.factory/sessions` by default.
    pub fn sessions_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Reads the list, and blocks this thread meanwhile.
    pub fn blocking(self) -> Result<Vec<StoredSession>> {
        let store = Store::in_folder(sessions_root(self.folder.as_deref())?);
        let cwd = (!self.is_everywhere).then_some(self.cwd.as_path());
        let favorites = store.favorites();
        let sessions =
            if self.is_used_only { store.list_used(cwd, self.limit) } else { store.list(cwd, self.limit) };
        Ok(sessions.into_iter().filter_map(|session| stored(session, &favorites)).collect())
    }
}

impl IntoFuture for ListSessions {
    type Output = Result<Vec<StoredSession>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(off_the_runtime(|| self.blocking()))
    }
}

/// Reads a session of the store. `None` if it was deleted meanwhile.
fn stored(session: Summary, favorites: &HashSet<String>) -> Option<StoredSession> {
    Some(StoredSession {
        message_count: session.count_records().ok()?,
        is_favorite: favorites.contains(session.id.as_str()),
        id: session.id.as_str().to_owned(),
        title: session.title,
        session_title: session.session_title,
        owner: session.owner,
        modified: session.modified,
        created: session.created,
        cwd: session.cwd,
        additional_directories: session.additional_directories,
    })
}
