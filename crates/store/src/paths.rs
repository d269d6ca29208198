//! The paths of the files of a session, all in one directory and named by its id.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::SessionId;
use super::hash::ContentHash;

/// Name of the journal in the directory of snapshots.
pub(super) const JOURNAL: &str = "journal.jsonl";
const SIDE_SUFFIX: &str = ".json";

/// The paths of the files of a session.
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

    /// Returns the path of the log.
    pub(super) fn log(&self) -> PathBuf {
        self.file("jsonl")
    }

    /// Returns the path of the settings.
    pub(super) fn settings(&self) -> PathBuf {
        self.file("settings.json")
    }

    /// Returns the path of the previous version of the settings.
    pub(super) fn old_settings(&self) -> PathBuf {
        self.file("settings.json.bak")
    }

    /// Returns the path of the lock file. The process that holds its lock is the writer.
    pub(super) fn lock(&self) -> PathBuf {
        self.file("lock")
    }

    /// Returns the directory of records that are too large for a line.
    pub(super) fn sides(&self) -> PathBuf {
        self.file("large")
    }

    /// Returns the path of a record that is too large for a line.
    pub(super) fn side(&self, hash: &ContentHash) -> PathBuf {
        self.sides().join(format!("{}{SIDE_SUFFIX}", hash.as_str()))
    }

    /// Returns the directory of file snapshots.
    pub(super) fn snapshots(&self) -> PathBuf {
        self.file("snapshots")
    }

    /// Returns the path of the backup of a damaged log.
    pub(super) fn damaged(&self, at_ms: i64) -> PathBuf {
        self.file(&format!("{at_ms}.damaged"))
    }

    fn file(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}.{suffix}", self.id))
    }
}

/// The kind of a file in one of the directories of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionFile {
    /// Named by its content, which never changes.
    Content,
    /// The journal of file contents.
    Journal,
}

/// Returns the kind of a file by its name; `None` if the name is not valid.
pub(super) fn session_file(name: &OsStr) -> Option<SessionFile> {
    let name = name.to_str()?;
    let hash = name.strip_suffix(SIDE_SUFFIX).unwrap_or(name);
    if name == JOURNAL {
        Some(SessionFile::Journal)
    } else {
        ContentHash::parse(hash).map(|_| SessionFile::Content)
    }
}

/// Returns the session id in the name of a log.
pub(super) fn id_of(log: &Path) -> Option<SessionId> {
    if log.extension() != Some(OsStr::new("jsonl")) {
        return None;
    }
    SessionId::new(log.file_stem()?.to_str()?).ok()
}
