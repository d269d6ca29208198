//! Files as they were before a tool changed them, so that a rewind can put them back.
//!
//! Contents lie beside the log under their hash, and a journal says which file had which content before which message changed
//! it. Old contents go when there are too many; the journal remembers that they were there. Only files of the journal are ever
//! written or removed, whatever a client asks for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk::{self, Disk};
use super::error::{At, Result};
use super::hash;
use super::paths::Paths;

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
    Before { message_id: String, path: PathBuf, hash: String, size: u64, mode: u32 },
    /// The file was not there.
    Absent { message_id: String, path: PathBuf },
    /// The content could not be kept.
    Skipped { message_id: String, path: PathBuf, reason: String },
    /// A content was thrown away.
    Evicted { hash: String },
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
    kept: HashMap<String, (u64, usize)>,
    /// Whether the journal ends with part of a line.
    is_torn: bool,
}

impl Snapshots {
    /// Reads the journal. What is damaged in it is passed over.
    pub(super) fn open(paths: &Paths, limits: SnapshotLimits) -> Self {
        let folder = paths.snapshots();
        let mut journal = Vec::new();
        if let Ok(mut file) = disk::open_to_read(&folder.join(JOURNAL)) {
            file.read_to_end(&mut journal).ok();
        }
        let is_torn = !journal.is_empty() && !journal.ends_with(b"\n");
        let mut snapshots =
            Self { folder, limits, entries: Vec::new(), seen: HashSet::new(), kept: HashMap::new(), is_torn };
        for line in journal.split(|byte| *byte == b'\n') {
            if let Ok(entry) = serde_json::from_slice(line) {
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
                let (hash, size) = (hash::hex(&content), content.len() as u64);
                if !self.kept.contains_key(&hash) {
                    self.make_room(disk, size)?;
                    disk::make_folder(&self.folder)?;
                    disk.replace(&self.folder.join(&hash), &content, is_synced)?;
                }
                Entry::Before { message_id, path, hash, size, mode }
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
                    files.available.push(SnapshotFile { path, hash: hash.clone(), size: *size });
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
        let mode = self.entries.iter().find_map(|entry| match entry {
            Entry::Before { path: known, hash: kept, mode, .. } if known == path && kept == hash => {
                Some(*mode)
            }
            _ => None,
        });
        let mode = mode.ok_or_else(|| io::Error::other("this session never had that file"))?;
        let mut content = Vec::new();
        disk::open_to_read(&self.folder.join(hash))?.read_to_end(&mut content)?;
        if hash::hex(&content) != hash {
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

    fn is_kept(&self, hash: &str) -> bool {
        self.kept.contains_key(hash) && fs_err::symlink_metadata(self.folder.join(hash)).is_ok()
    }

    /// Throws away what was not asked for longest, until so much more can be kept.
    fn make_room(&mut self, disk: &dyn Disk, size: u64) -> Result<()> {
        loop {
            let total: u64 = self.kept.values().map(|(size, _)| size).sum();
            if total + size <= self.limits.session {
                return Ok(());
            }
            let oldest = self.kept.iter().min_by_key(|(_, (_, entry))| *entry).map(|(hash, _)| hash.clone());
            let Some(hash) = oldest else { return Ok(()) };
            fs_err::remove_file(self.folder.join(&hash)).ok();
            self.write(disk, Entry::Evicted { hash }, false)?;
        }
    }

    fn write(&mut self, disk: &dyn Disk, entry: Entry, is_synced: bool) -> Result<()> {
        disk::make_folder(&self.folder)?;
        let path = self.folder.join(JOURNAL);
        let mut line = serde_json::to_vec(&entry).map_err(io::Error::from).at("write", &path)?;
        line.push(b'\n');
        if self.is_torn {
            line.insert(0, b'\n');
        }
        let file = disk.append_to(&path).at("open", &path)?;
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

const JOURNAL: &str = "journal.jsonl";
const TOO_MANY: &str = "the session has kept too much since";

impl Entry {
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
    Ok(Some((content, metadata.mode() & 0o7777)))
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
