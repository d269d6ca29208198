//! The versions of files that the model has seen. A file that has changed since is not edited: the model would undo the change unknowingly.
//!
//! A file that is not here may be edited: the model may know it from anywhere, and the text that it replaces has to match anyway.

use std::collections::HashMap;
use std::fs::Metadata;
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The files that the model has seen, by their real paths, each with the version that it saw last.
#[derive(Debug, Default)]
pub struct SeenFiles {
    // held for a few instructions only, never across an await
    versions: Mutex<HashMap<PathBuf, Version>>,
}

/// What is known of the version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// The hash of its content.
    Content(u64),
    /// The metadata of the file when it was searched.
    Stamp(Stamp),
    /// The time at which it was seen, in milliseconds since 1970: all that a stored session tells.
    At(i64),
}

/// Metadata that changes with the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: (i64, i64),
    len: u64,
    inode: u64,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        Self { modified, len: metadata.len(), inode: metadata.ino() }
    }

    fn modified_ms(self) -> i64 {
        self.modified.0.saturating_mul(1000).saturating_add(self.modified.1 / 1_000_000)
    }
}

/// Maximum number of files that are remembered. A forgotten file can be edited like one that was never seen.
const MAX_FILES: usize = 20_000;
/// Files larger than this are not searched in the output of a command.
const MAX_SHOWN_FILE_BYTES: u64 = 1 << 20;
/// Shorter lines are found in any output.
const MIN_LINE_BYTES: usize = 6;
/// The number of lines of a file that are looked for in an output.
const MAX_LINES: usize = 5_000;

impl SeenFiles {
    /// The model has seen this content of a file, or has written it.
    pub fn add(&self, path: impl Into<PathBuf>, content: &[u8]) {
        self.insert(path.into(), Version::Content(hash(content)));
    }

    /// The model has seen lines of a file with this metadata.
    pub(crate) fn add_found(&self, path: &Path, metadata: &Metadata) {
        self.insert(path.to_owned(), Version::Stamp(Stamp::of(metadata)));
    }

    /// The model saw or wrote a file at a time, in milliseconds since 1970: for sessions that are resumed.
    pub fn add_at(&self, path: impl Into<PathBuf>, at_ms: i64) {
        let path = path.into();
        let later = match self.versions().get(&path) {
            Some(Version::At(known)) => at_ms.max(*known),
            _ => at_ms,
        };
        self.insert(path, Version::At(later));
    }

    /// Returns whether the model has seen a file, in any version.
    pub fn contains(&self, path: &Path) -> bool {
        self.versions().contains_key(path)
    }

    /// Returns whether the model has seen another version of a file than the one with this content.
    pub fn is_outdated(&self, path: &Path, content: &[u8]) -> bool {
        let Some(version) = self.versions().get(path).copied() else { return false };
        let on_disk = || fs_err::metadata(path).ok().map(|metadata| Stamp::of(&metadata));
        match version {
            Version::Content(seen) => seen != hash(content),
            // a file that is only in the editor has no metadata to compare
            Version::Stamp(seen) => on_disk().is_some_and(|now| now != seen),
            Version::At(seen) => on_disk().is_some_and(|now| now.modified_ms() > seen),
        }
    }

    /// The model has read a text that may show files it knows: the output of a command, or a prompt. Reads files: not for a task.
    ///
    /// A file counts as seen if the text names it and has a line of its current content.
    pub fn add_shown(&self, text: &str) {
        let is_named = |path: &&PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy());
            name.is_some_and(|name| memchr::memmem::find(text.as_bytes(), name.as_bytes()).is_some())
        };
        let named: Vec<PathBuf> = self.versions().keys().filter(is_named).cloned().collect();
        for path in named {
            let is_small = fs_err::metadata(&path)
                .is_ok_and(|found| found.is_file() && found.len() <= MAX_SHOWN_FILE_BYTES);
            let content = is_small.then(|| fs_err::read(&path).ok()).flatten();
            if let Some(content) = content.filter(|content| shows(text, content)) {
                self.add(path, &content);
            }
        }
    }

    fn insert(&self, path: PathBuf, version: Version) {
        let mut versions = self.versions();
        if versions.len() < MAX_FILES || versions.contains_key(&path) {
            versions.insert(path, version);
        }
    }

    fn versions(&self) -> MutexGuard<'_, HashMap<PathBuf, Version>> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a text has a line of a file.
fn shows(text: &str, content: &[u8]) -> bool {
    let lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| line.len() >= MIN_LINE_BYTES).take(MAX_LINES);
    lines.any(|line| memchr::memmem::find(text.as_bytes(), line).is_some())
}

fn hash(content: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(content);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        fs_err::write(&path, content).unwrap();
        (folder, path)
    }

    #[test]
    fn file_is_outdated_after_a_change_and_not_if_it_was_never_seen() {
        let (_folder, path) = file("one line\n");
        let seen = SeenFiles::default();
        assert!(!seen.contains(&path) && !seen.is_outdated(&path, b"one line\n"));
        seen.add(&path, b"one line\n");
        assert!(seen.contains(&path) && !seen.is_outdated(&path, b"one line\n"));
        assert!(seen.is_outdated(&path, b"another line\n"));
    }

    #[test]
    fn file_found_by_a_search_is_outdated_when_its_metadata_changes() {
        let (_folder, path) = file("one line\n");
        let seen = SeenFiles::default();
        seen.add_found(&path, &fs_err::metadata(&path).unwrap());
        assert!(!seen.is_outdated(&path, b"one line\n"));
        fs_err::write(&path, "one longer line\n").unwrap();
        assert!(seen.is_outdated(&path, b"one longer line\n"));
    }

    #[test]
    fn restored_file_is_outdated_if_it_was_modified_later() {
        let (_folder, path) = file("one line\n");
        let modified = Stamp::of(&fs_err::metadata(&path).unwrap()).modified_ms();
        let seen = SeenFiles::default();
        seen.add_at(&path, modified - 1);
        assert!(seen.is_outdated(&path, b"one line\n"));
        seen.add_at(&path, modified);
        assert!(!seen.is_outdated(&path, b"one line\n"));
        seen.add_at(&path, modified - 1);
        assert!(!seen.is_outdated(&path, b"one line\n"), "the later time counts");
    }

    #[test]
    fn text_with_the_name_and_a_line_of_a_file_shows_it() {
        let (_folder, path) = file("first line\nsecond line\n");
        let seen = SeenFiles::default();
        seen.add(&path, b"old");
        for text in ["notes.txt", "second line", "other.txt: second line"] {
            seen.add_shown(text);
            assert!(seen.is_outdated(&path, b"first line\nsecond line\n"), "{text}");
        }
        seen.add_shown("notes.txt:2:  second line");
        assert!(!seen.is_outdated(&path, b"first line\nsecond line\n"));
    }
}
