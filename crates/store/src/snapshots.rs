//! Snapshots of files before a tool changes them, so that a rewind can restore them.
//!
//! Contents are stored next to the log under their hash, and a journal records which file had which content before which message
//! changed it. Old contents are evicted when the limit is reached; the journal records that as well. Only files in the journal are
//! ever written or deleted, regardless of what a client requests.
//!
//! The journal is untrusted: a line with an invalid hash or path is skipped, a journal that is too large is neither read nor
//! extended, and set-uid bits are never taken from it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk::{self, Disk};
use super::error::{At, Result};
use super::hash::ContentHash;
use super::paths::{JOURNAL, Paths};

/// Maximum size of the journal in bytes, enough for about 50,000 file changes.
pub(super) const MAX_JOURNAL: u64 = 16 * 1024 * 1024;

/// Limits for snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// Maximum size of a file, in bytes. Default: 10 MiB.
    pub file: u64,
    /// Maximum total size of all files of a session, in bytes. Default: 256 MiB.
    pub session: u64,
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self { file: 10 * 1024 * 1024, session: 256 * 1024 * 1024 }
    }
}

/// The files that a rewind to a message would affect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RewindFiles {
    /// Files whose earlier content can be restored.
    pub available: Vec<SnapshotFile>,
    /// Files that did not exist before.
    pub created: Vec<PathBuf>,
    /// Files whose earlier content is not available, with the reason.
    pub evicted: Vec<(PathBuf, String)>,
}

/// A file whose earlier content can be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Hash of the content: 64 hexadecimal digits.
    pub hash: String,
    /// Size of the content in bytes.
    pub size: u64,
}

/// The result of restoring files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// Restored files.
    pub restored: Vec<PathBuf>,
    /// Deleted files.
    pub deleted: Vec<PathBuf>,
    /// Files that could not be restored, with the reason.
    pub failed_restores: Vec<(PathBuf, String)>,
    /// Files that could not be deleted, with the reason.
    pub failed_deletes: Vec<(PathBuf, String)>,
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Entry {
    /// The file had this content.
    Before { message_id: String, path: PathBuf, hash: ContentHash, size: u64, mode: u32 },
    /// The file did not exist.
    Absent { message_id: String, path: PathBuf },
    /// The content could not be stored.
    Skipped { message_id: String, path: PathBuf, reason: String },
    /// A content was evicted.
    Evicted { hash: ContentHash },
}

/// The snapshots of a session.
#[derive(Debug)]
pub(super) struct Snapshots {
    folder: PathBuf,
    limits: SnapshotLimits,
    entries: Vec<Entry>,
    /// Pairs of message and file that already have an entry.
    seen: HashSet<(String, PathBuf)>,
    /// The stored contents, with their size and the last entry that refers to them.
    kept: HashMap<ContentHash, (u64, usize)>,
    /// The size of the journal, in bytes.
    length: u64,
    /// Whether the journal ends with part of a line.
    is_torn: bool,
}

impl Snapshots {
    /// Reads the journal. Skips damaged lines.
    pub(super) fn open(paths: &Paths, limits: SnapshotLimits) -> Self {
        let folder = paths.snapshots();
        let path = folder.join(JOURNAL);
        let read =
            if disk::is_own_folder(&folder) { disk::read_small(&path, MAX_JOURNAL) } else { Ok(Vec::new()) };
        let is_too_large = read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::FileTooLarge);
        if is_too_large {
            tracing::warn!(path = %path.display(), "the journal of file snapshots is too large to be read");
        }
        let journal = read.unwrap_or_default();
        // a journal that is too large accepts no more entries
        let length = if is_too_large { u64::MAX } else { journal.len() as u64 };
        let is_torn = !journal.is_empty() && !journal.ends_with(b"\n");
        let mut snapshots = Self {
            folder,
            limits,
            entries: Vec::new(),
            seen: HashSet::new(),
            kept: HashMap::new(),
            length,
            is_torn,
        };
        for line in journal.split(|byte| *byte == b'\n') {
            if let Some(entry) = serde_json::from_slice(line).ok().filter(Entry::is_plain) {
                snapshots.note(entry);
            }
        }
        snapshots
    }

    /// Takes a snapshot of a file, unless there is one for the same message already.
    pub(super) fn take(
        &mut self,
        disk: &dyn Disk,
        message_id: &str,
        path: &Path,
        is_synced: bool,
    ) -> Result<()> {
        let message_id = message_id.to_owned();
        let path = path.to_owned();
        if self.seen.contains(&(message_id.clone(), path.clone())) {
            return Ok(());
        }
        let entry = match read_file(&path, self.limits.file.min(self.limits.session)) {
            Ok(None) => Entry::Absent { message_id, path },
            Ok(Some((content, mode))) => {
                let (hash, size) = (ContentHash::of(&content), content.len() as u64);
                let kept = (!self.is_kept(&hash)).then(|| self.content(&hash));
                let entry = Entry::Before { message_id, path, hash, size, mode };
                if let Some(kept) = kept {
                    disk::make_own_folder(&self.folder)?;
                    self.line(&entry)?;
                    self.make_room(disk, size)?;
                    // check again, because eviction adds entries: a content without an entry would never be evicted
                    self.line(&entry)?;
                    disk.replace(&kept, &content, is_synced)?;
                }
                entry
            }
            Err(error) => Entry::Skipped { message_id, path, reason: reason(&error) },
        };
        self.write(disk, entry, is_synced)
    }

    /// Returns the files that a rewind would affect; `is_undone` selects the messages to undo.
    pub(super) fn rewind(&self, is_undone: impl Fn(&str) -> bool) -> RewindFiles {
        let mut first: BTreeMap<&Path, &Entry> = BTreeMap::new();
        for entry in &self.entries {
            if let Some((message_id, path)) = entry.subject()
                && is_undone(message_id)
            {
                first.entry(path).or_insert(entry);
            }
        }
        let mut files = RewindFiles::default();
        for (path, entry) in first {
            let path = path.to_owned();
            match entry {
                Entry::Before { hash, size, .. } if self.is_kept(hash) => {
                    let hash = hash.as_str().to_owned();
                    files.available.push(SnapshotFile { path, hash, size: *size });
                }
                Entry::Before { .. } => files.evicted.push((path, EVICTED.to_owned())),
                Entry::Skipped { reason, .. } => files.evicted.push((path, reason.clone())),
                Entry::Absent { .. } if fs_err::symlink_metadata(&path).is_ok() => files.created.push(path),
                Entry::Absent { .. } | Entry::Evicted { .. } => {}
            }
        }
        files
    }

    /// Restores and deletes files, as far as they are in the journal.
    pub(super) fn restore(&self, restore: &[(PathBuf, String)], delete: &[PathBuf]) -> Restored {
        let mut out = Restored::default();
        for (path, hash) in restore {
            match self.restore_file(path, hash) {
                Ok(()) => out.restored.push(path.clone()),
                Err(error) => out.failed_restores.push((path.clone(), reason(&error))),
            }
        }
        for path in delete {
            match self.remove(path) {
                Ok(()) => out.deleted.push(path.clone()),
                Err(error) => out.failed_deletes.push((path.clone(), reason(&error))),
            }
        }
        out
    }

    fn restore_file(&self, path: &Path, hash: &str) -> io::Result<()> {
        let found = self.entries.iter().find_map(|entry| match entry {
            Entry::Before { path: known, hash: kept, mode, .. } if known == path && kept.as_str() == hash => {
                Some((kept, *mode))
            }
            _ => None,
        });
        let (hash, mode) =
            found.ok_or_else(|| io::Error::other("the session has no snapshot of the file"))?;
        let content = disk::read_small(&self.content(hash), self.limits.session)?;
        if ContentHash::of(&content) != *hash {
            return Err(io::Error::other("the stored content is damaged"));
        }
        check_path(path)?;
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        disk::replace_user_file(path, &content, mode)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let is_known = |entry: &Entry| matches!(entry, Entry::Absent { path: known, .. } if known == path);
        if !self.entries.iter().any(is_known) {
            return Err(io::Error::other("the session did not create the file"));
        }
        check_path(path)?;
        fs_err::remove_file(path)
    }

    /// Returns the path of a stored content.
    fn content(&self, hash: &ContentHash) -> PathBuf {
        self.folder.join(hash.as_str())
    }

    fn is_kept(&self, hash: &ContentHash) -> bool {
        self.kept.contains_key(hash) && fs_err::symlink_metadata(self.content(hash)).is_ok()
    }

    /// Evicts the contents with the oldest entries until `size` more bytes fit into the limit.
    fn make_room(&mut self, disk: &dyn Disk, size: u64) -> Result<()> {
        // wide enough for any sizes that an untrusted journal can contain
        let mut total: u128 = self.kept.values().map(|(size, _)| u128::from(*size)).sum();
        total += u128::from(size);
        let limit = u128::from(self.limits.session);
        if total <= limit {
            return Ok(());
        }
        let mut oldest: Vec<(usize, u64, ContentHash)> =
            self.kept.iter().map(|(hash, (size, entry))| (*entry, *size, hash.clone())).collect();
        oldest.sort_unstable();
        for (_, size, hash) in oldest {
            if total <= limit {
                break;
            }
            total -= u128::from(size);
            fs_err::remove_file(self.content(&hash)).ok();
            self.write(disk, Entry::Evicted { hash }, false)?;
        }
        Ok(())
    }

    fn write(&mut self, disk: &dyn Disk, entry: Entry, is_synced: bool) -> Result<()> {
        disk::make_own_folder(&self.folder)?;
        let path = self.folder.join(JOURNAL);
        let line = self.line(&entry)?;
        let file = disk.append_to(&path).at("open", &path)?;
        self.length = self.length.saturating_add(line.len() as u64);
        // until the line is known to be complete
        self.is_torn = true;
        disk.write_all(&file, &line).at("append to", &path)?;
        self.is_torn = false;
        if is_synced {
            disk.sync(&file).at("sync", &path)?;
        }
        self.note(entry);
        Ok(())
    }

    /// Formats an entry as a line. Fails if the journal would become too large.
    fn line(&self, entry: &Entry) -> Result<Vec<u8>> {
        let path = self.folder.join(JOURNAL);
        let mut line = serde_json::to_vec(entry).map_err(io::Error::from).at("write", &path)?;
        line.push(b'\n');
        if self.is_torn {
            line.insert(0, b'\n');
        }
        if self.length.saturating_add(line.len() as u64) > MAX_JOURNAL {
            let text = format!("larger than {MAX_JOURNAL} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text)).at("append to", &path);
        }
        Ok(line)
    }

    fn note(&mut self, entry: Entry) {
        if let Some((message_id, path)) = entry.subject() {
            self.seen.insert((message_id.to_owned(), path.to_owned()));
        }
        match &entry {
            Entry::Before { hash, size, .. } => {
                self.kept.insert(hash.clone(), (*size, self.entries.len()));
            }
            Entry::Evicted { hash } => {
                self.kept.remove(hash);
            }
            _ => {}
        }
        self.entries.push(entry);
    }
}

const EVICTED: &str = "evicted, because the size limit for snapshots was reached";

impl Entry {
    /// Returns whether the path is that of a file, absolute and without `..`. Entries without content are never written or deleted.
    fn is_plain(&self) -> bool {
        match self {
            Self::Before { path, .. } | Self::Absent { path, .. } => {
                let is_plain =
                    |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
                path.is_absolute() && path.file_name().is_some() && path.components().all(is_plain)
            }
            Self::Skipped { .. } | Self::Evicted { .. } => true,
        }
    }

    fn subject(&self) -> Option<(&str, &Path)> {
        match self {
            Self::Before { message_id, path, .. }
            | Self::Absent { message_id, path }
            | Self::Skipped { message_id, path, .. } => Some((message_id, path)),
            Self::Evicted { .. } => None,
        }
    }
}

/// Reads the content and mode of a file; `None` if it does not exist.
fn read_file(path: &Path, limit: u64) -> io::Result<Option<(Vec<u8>, u32)>> {
    use std::os::unix::fs::MetadataExt as _;

    if !path.is_absolute() {
        return Err(io::Error::other("the path is not absolute"));
    }
    let file: File = match disk::open_to_read(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    let mut content = Vec::new();
    file.take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes")));
    }
    Ok(Some((content, metadata.mode() & disk::PERMISSIONS)))
}

/// Fails if the path contains a symbolic link, which would lead to another file than the one in the journal.
fn check_path(path: &Path) -> io::Result<()> {
    let folder = path.ancestors().skip(1).find(|folder| fs_err::symlink_metadata(folder).is_ok());
    let folder = folder.ok_or_else(|| io::Error::other("not a file"))?;
    if fs_err::canonicalize(folder)? != folder {
        return Err(io::Error::other("the path contains a symbolic link"));
    }
    match fs_err::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("no longer a file")),
        _ => Ok(()),
    }
}

fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => "a symbolic link".to_owned(),
        _ => error.to_string(),
    }
}
