//! The files of one session, all beside each other and named by its id.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::SessionId;
use super::hash::ContentHash;

/// The journal in the folder of file contents.
pub(super) const JOURNAL: &str = "journal.jsonl";
const SIDE_SUFFIX: &str = ".json";

/// Where the files of a session are.
#[derive(Debug, Clone)]
pub(super) struct Paths {
    folder: PathBuf,
    id: SessionId,
}

impl Paths {
    pub(super) fn new(folder: PathBuf, id: SessionId) -> Self {
        Self { folder, id }
    }

    pub(super) fn id(&self) -> &SessionId {
        &self.id
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The conversation.
    pub(super) fn log(&self) -> PathBuf {
        self.file("jsonl")
    }

    /// The settings, and those before them.
    pub(super) fn settings(&self) -> PathBuf {
        self.file("settings.json")
    }

    pub(super) fn old_settings(&self) -> PathBuf {
        self.file("settings.json.bak")
    }

    /// Whoever has it locked writes.
    pub(super) fn lock(&self) -> PathBuf {
        self.file("lock")
    }

    /// The folder of records that are too large for a line.
    pub(super) fn sides(&self) -> PathBuf {
        self.file("large")
    }

    /// A record that is too large for a line.
    pub(super) fn side(&self, hash: &ContentHash) -> PathBuf {
        self.sides().join(format!("{}{SIDE_SUFFIX}", hash.as_str()))
    }

    /// The folder of file contents to go back to.
    pub(super) fn snapshots(&self) -> PathBuf {
        self.file("snapshots")
    }

    /// A damaged log, kept for those who want to look into it.
    pub(super) fn damaged(&self, at_ms: i64) -> PathBuf {
        self.file(&format!("{at_ms}.damaged"))
    }

    fn file(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}.{suffix}", self.id))
    }
}

/// A file in one of the folders of a session, as far as such folders have files of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// Named by its content, which never changes.
    Content,
    /// The journal of file contents.
    Journal,
}

/// What the name of a file in such a folder says; nothing if it is no name of ours.
pub(super) fn beside(name: &OsStr) -> Option<Beside> {
    let name = name.to_str()?;
    let hash = name.strip_suffix(SIDE_SUFFIX).unwrap_or(name);
    if name == JOURNAL { Some(Beside::Journal) } else { ContentHash::parse(hash).map(|_| Beside::Content) }
}

/// The id in the name of a log.
pub(super) fn id_of(log: &Path) -> Option<SessionId> {
    if log.extension() != Some(OsStr::new("jsonl")) {
        return None;
    }
    SessionId::new(log.file_stem()?.to_str()?).ok()
}
