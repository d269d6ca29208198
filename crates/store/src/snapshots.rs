//! Files as they were before a tool changed them, so that a rewind can put them back.
//!
//! Contents lie beside the log under their hash, and a journal says which file had which content before which message changed
//! it. Old contents go when there are too many; the journal remembers that they were there. Only files of the journal are ever
//! written or removed, whatever a client asks for.
//!
//! The journal itself is not trusted: a line whose hash or path is not plain is passed over, a journal that is too large is neither read
//! nor added to, and no set-uid bit comes out of it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk::{self, Disk};
use super::error::{At, Result};
use super::hash::ContentHash;
use super::paths::{JOURNAL, Paths};

/// The largest journal that is read or written, in bytes: about 50,000 changes of files.
pub(super) const MAX_JOURNAL: u64 = 16 * 1024 * 1024;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// The largest file, in bytes.
    pub file: u64,
    /// All files of a session together.
    pub session: u64,
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self { file: 10 * 1024 * 1024, session: 256 * 1024 * 1024 }
    }
}

/// What a rewind to a message would do to files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RewindFiles {
    /// Files whose earlier content is kept.
    pub available: Vec<SnapshotFile>,
    /// Files that were not there before.
    pub created: Vec<PathBuf>,
    /// Files whose earlier content is gone, and why.
    pub evicted: Vec<(PathBuf, String)>,
}

/// A file whose earlier content is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotFile {
    /// The file.
    pub path: PathBuf,
    /// The hash of the content: 64 hex digits.
    pub hash: String,
    /// Its size.
    pub size: u64,
}

/// What a rewind did to files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// Files that are as they were.
    pub restored: Vec<PathBuf>,
    /// Files that are gone.
    pub deleted: Vec<PathBuf>,
    /// Files that could not be put back, and why.
    pub failed_restores: Vec<(PathBuf, String)>,
    /// Files that could not be removed, and why.
    pub failed_deletes: Vec<(PathBuf, String)>,
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Entry {
    /// The file had this content.
    Before { message_id: String, path: PathBuf, hash: ContentHash, size: u64, mode: u32 },
    /// The file was not there.
    Absent { message_id: String, path: PathBuf },
    /// The content could not be kept.
    Skipped { message_id: String, path: PathBuf, reason: String },
    /// A content was thrown away.
    Evicted { hash: ContentHash },
}

/// The snapshots of a session.
#[derive(Debug)]
pub(super) struct Snapshots {
    folder: PathBuf,
    limits: SnapshotLimits,
    entries: Vec<Entry>,
    /// Which file was seen before which message.
    seen: HashSet<(String, PathBuf)>,
    /// The contents that are kept: their size, and the last entry that names them.
    kept: HashMap<ContentHash, (u64, usize)>,
    /// The size of the journal, in bytes.
    length: u64,
    /// Whether the journal ends with part of a line.
    is_torn: bool,
}

impl Snapshots {
    /// Reads the journal. What is damaged in it is passed over.
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
        // one that is too large has no room for more
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

    /// Keeps a file as it is now, unless it was kept before the same message already.
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
                    // again, because making room takes some of it: a content without an entry would never be thrown away
                    self.line(&entry)?;
                    disk.replace(&kept, &content, is_synced)?;
                }
                entry
            }
            Err(error) => Entry::Skipped { message_id, path, reason: reason(&error) },
        };
        self.write(disk, entry, is_synced)
    }

    /// What a rewind would do, if `is_undone` says which messages it takes back.
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
                Entry::Before { .. } => files.evicted.push((path, TOO_MANY.to_owned())),
                Entry::Skipped { reason, .. } => files.evicted.push((path, reason.clone())),
                Entry::Absent { .. } if fs_err::symlink_metadata(&path).is_ok() => files.created.push(path),
                Entry::Absent { .. } | Entry::Evicted { .. } => {}
            }
        }
        files
    }

    /// Puts files back and removes files, as far as the journal knows them.
    pub(super) fn restore(&self, restore: &[(PathBuf, String)], delete: &[PathBuf]) -> Restored {
        let mut out = Restored::default();
        for (path, hash) in restore {
            match self.put_back(path, hash) {
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

    fn put_back(&self, path: &Path, hash: &str) -> io::Result<()> {
        let found = self.entries.iter().find_map(|entry| match entry {
            Entry::Before { path: known, hash: kept, mode, .. } if known == path && kept.as_str() == hash => {
                Some((kept, *mode))
            }
            _ => None,
        });
        let (hash, mode) = found.ok_or_else(|| io::Error::other("this session never had that file"))?;
        let content = disk::read_small(&self.content(hash), self.limits.session)?;
        if ContentHash::of(&content) != *hash {
            return Err(io::Error::other("the content that was kept is damaged"));
        }
        check_place(path)?;
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        disk::write_beside(path, &content, mode)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let is_known = |entry: &Entry| matches!(entry, Entry::Absent { path: known, .. } if known == path);
        if !self.entries.iter().any(is_known) {
            return Err(io::Error::other("this session did not make that file"));
        }
        check_place(path)?;
        fs_err::remove_file(path)
    }

    /// The file of a content.
    fn content(&self, hash: &ContentHash) -> PathBuf {
        self.folder.join(hash.as_str())
    }

    fn is_kept(&self, hash: &ContentHash) -> bool {
        self.kept.contains_key(hash) && fs_err::symlink_metadata(self.content(hash)).is_ok()
    }

    /// Throws away what was not asked for longest, until so much more can be kept.
    fn make_room(&mut self, disk: &dyn Disk, size: u64) -> Result<()> {
        // wide enough for any sizes a journal can claim
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
        // until it is known to be whole
        self.is_torn = true;
        disk.write_all(&file, &line).at("add to", &path)?;
        self.is_torn = false;
        if is_synced {
            disk.sync(&file).at("sync", &path)?;
        }
        self.note(entry);
        Ok(())
    }

    /// The line of an entry. Fails if the journal has no room for it.
    fn line(&self, entry: &Entry) -> Result<Vec<u8>> {
        let path = self.folder.join(JOURNAL);
        let mut line = serde_json::to_vec(entry).map_err(io::Error::from).at("write", &path)?;
        line.push(b'\n');
        if self.is_torn {
            line.insert(0, b'\n');
        }
        if self.length.saturating_add(line.len() as u64) > MAX_JOURNAL {
            let text = format!("it would be larger than {MAX_JOURNAL} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text)).at("add to", &path);
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

const TOO_MANY: &str = "the session has kept too much since";

impl Entry {
    /// Whether the path is that of a file, absolute and without `..`. What could not be kept is neither written nor removed.
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

/// The content and mode of a file; nothing if there is none.
fn read_file(path: &Path, most: u64) -> io::Result<Option<(Vec<u8>, u32)>> {
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
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {most} bytes")));
    }
    Ok(Some((content, metadata.mode() & disk::PERMISSIONS)))
}

/// A link on the way leads to another place than the one that was agreed on.
fn check_place(path: &Path) -> io::Result<()> {
    let folder = path.ancestors().skip(1).find(|folder| fs_err::symlink_metadata(folder).is_ok());
    let folder = folder.ok_or_else(|| io::Error::other("no file"))?;
    if fs_err::canonicalize(folder)? != folder {
        return Err(io::Error::other("there is a link in the path now"));
    }
    match fs_err::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("it is not a file any more")),
        _ => Ok(()),
    }
}

fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => "it is a link".to_owned(),
        _ => error.to_string(),
    }
}
