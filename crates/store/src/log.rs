//! The writer of a session: when a method returns, its changes are on disk.
//!
//! A record is one write at the end of the file. A failed write leaves the file unchanged, and the next one may succeed. Only a
//! new title replaces the file, because lists of sessions read the title from the first line.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::disk::{self, Disk};
use super::error::{At, Result, StoreError};
use super::lease::Lease;
use super::list::Times;
use super::outline::{Outline, copy_range};
use super::paths::Paths;
use super::record::{self, Line, Record, Start};
use super::scan::{self, Repair};
use super::snapshots::{Restored, RewindFiles, SnapshotLimits, Snapshots};
use super::{Durability, SessionId, Store, settings_file, side};

/// Maximum number of bytes kept in memory to write them again if a sync fails.
const MAX_UNSYNCED: usize = 8 * 1024 * 1024;

/// The log of a session that this process owns: no other process can write it in the meantime.
#[derive(Debug)]
pub struct Log {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) paths: Paths,
    pub(super) durability: Durability,
    pub(super) lease: Box<dyn Lease>,
    /// Where the session is read again if others have written it.
    pub(super) store: Store,
    /// `None` after a failure; the next write opens the file again.
    pub(super) file: Option<File>,
    /// Length of the file, as far as this writer knows.
    pub(super) length: u64,
    pub(super) start: Start,
    pub(super) settings: Map<String, Value>,
    /// The repair that the file needs before the next write.
    pub(super) repair: Option<Repair>,
    /// Records that could not be written while loading.
    pub(super) pending: Vec<Record>,
    /// The end of the file, as far as it may not have reached the storage medium.
    pub(super) unsynced: Vec<u8>,
    /// Whether the file replaced another one that may reappear after power loss.
    pub(super) is_name_unsynced: bool,
    /// The messages, with the number of messages before each.
    pub(super) order: HashMap<String, usize>,
    /// Opened on first use.
    pub(super) snapshots: Option<Snapshots>,
    pub(super) limits: SnapshotLimits,
}

impl Log {
    /// Returns the log of a session without records.
    pub(super) fn new(store: &Store, paths: Paths, lease: Box<dyn Lease>, start: Start) -> Self {
        Self {
            disk: Arc::clone(&store.disk),
            paths,
            durability: store.durability,
            lease,
            store: store.clone(),
            file: None,
            length: 0,
            start,
            settings: Map::new(),
            repair: None,
            pending: Vec::new(),
            unsynced: Vec::new(),
            is_name_unsynced: false,
            order: HashMap::new(),
            snapshots: None,
            limits: store.limits,
        }
    }

    /// Returns the id of the session.
    pub fn id(&self) -> &SessionId {
        self.paths.id()
    }

    /// Returns the path of the log.
    pub fn path(&self) -> PathBuf {
        self.paths.log()
    }

    /// Returns the first line.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// Returns the settings, as last saved.
    pub fn settings(&self) -> &Map<String, Value> {
        &self.settings
    }

    /// Returns whether other writers are locked out. If the file system does not support locks, they are only detected.
    pub fn is_exclusive(&self) -> bool {
        self.lease.is_exclusive()
    }

    /// Appends a record. After that, the record survives the end of the process; see [`sync`](Self::sync) for power loss.
    ///
    /// After an error, no part of the record is in the log, and the log remains usable.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        self.settle()?;
        self.add(record)?;
        if self.unsynced.len() > MAX_UNSYNCED { self.sync() } else { Ok(()) }
    }

    /// Waits until all records are on the storage medium. Does nothing unless the store uses [`Durability::Power`].
    ///
    /// If a sync fails, all data that may not have reached the medium is written to a new file.
    pub fn sync(&mut self) -> Result<()> {
        if self.durability == Durability::Process {
            return Ok(());
        }
        self.settle()?;
        self.sync_name()?;
        if self.unsynced.is_empty() {
            return Ok(());
        }
        let path = self.paths.log();
        let disk = Arc::clone(&self.disk);
        let Err(error) = disk.sync(self.open()?).at("sync", &path) else {
            self.unsynced.clear();
            return Ok(());
        };
        tracing::warn!(error = %error.with_causes(), "sync failed; writing the log again");
        self.repair = Some(Repair::WriteAgain);
        self.settle()?;
        self.sync_name()
    }

    /// Replaces the settings.
    pub fn save_settings(&mut self, settings: Map<String, Value>) -> Result<()> {
        self.write_settings(settings, true)
    }

    /// Sets the title. A generated title does not replace one that the user gave; in that case this returns `false`.
    ///
    /// The session does not move in lists when only its title changes.
    pub fn set_title(&mut self, title: &str, is_manual: bool) -> Result<bool> {
        if self.start.is_title_manual() && !is_manual {
            return Ok(false);
        }
        let mut start = self.start.clone();
        start.set("title", title);
        start.set("isSessionTitleManuallySet", is_manual);
        // droid's `sessionTitle` would be shown instead of the title
        start.remove("sessionTitle");
        if !is_manual {
            start.set("sessionTitleAutoStage", "first_message");
        }
        if self.lease.is_exclusive() {
            self.settle()?;
            let path = self.path();
            let old = disk::open_to_read(&path).at("read", &path)?;
            let (line, rest) = first_line(&old).at("read", &path)?;
            if !is_manual && is_manual_title(&line) {
                return Ok(false);
            }
            let times = Times::of(&self.path());
            times.note_created(&mut start);
            let line = start.line();
            self.replace_with(&mut |out| {
                out.write_all(&line)?;
                copy_range(&old, rest.clone(), out)
            })?;
            times.restore_modified(&self.path());
        } else {
            // another process may be appending to the file, so lists keep showing the old title
            self.append(&Record::Title { title: title.to_owned(), is_manual })?;
        }
        self.start = start;
        Ok(true)
    }

    /// Replaces the text of the summary that the model reads. Returns `false` if there is none.
    pub fn set_summary(&mut self, summary: &str) -> Result<bool> {
        self.settle()?;
        let old = self.content()?;
        let lines: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
        let parsed = lines.iter().enumerate().rev().find_map(|(at, line)| {
            match record::parse(serde_json::from_slice(line).ok()?)? {
                Line::Record(Record::Compaction(compaction)) => Some((at, *compaction)),
                _ => None,
            }
        });
        let Some((at, mut compaction)) = parsed else { return Ok(false) };
        summary.clone_into(&mut compaction.summary);
        compaction.summary_tokens = (summary.len() as u64).div_ceil(4);
        // names the file with the old text, if that was long
        compaction.extra.shift_remove("musher");
        let is_synced = self.durability == Durability::Power;
        let new = Record::Compaction(Box::new(compaction)).json();
        let new = side::line_of(&*self.disk, &self.paths, new, is_synced)?;
        let (before, after) = (&lines[..at], lines.get(at + 1..).unwrap_or_default());
        let content = [before.concat(), new, after.concat()].concat();
        let times = Times::of(&self.path());
        self.replace_with(&mut |out| out.write_all(&content))?;
        times.restore_modified(&self.path());
        Ok(true)
    }

    /// Takes a snapshot of a file before a tool changes it while processing a message. The path must be absolute and without links.
    pub fn snapshot(&mut self, message_id: &str, path: &Path) -> Result<()> {
        self.lease.check()?;
        let disk = Arc::clone(&self.disk);
        let is_synced = self.durability == Durability::Power;
        self.snapshots().take(&*disk, message_id, path, is_synced)
    }

    /// Returns the files that changed at or after a message; none if the message is unknown.
    pub fn rewind_info(&mut self, message_id: &str) -> RewindFiles {
        let Some(&from) = self.order.get(message_id) else { return RewindFiles::default() };
        let order = std::mem::take(&mut self.order);
        let is_undone = |id: &str| order.get(id).is_some_and(|at| *at >= from);
        let files = self.snapshots().rewind(is_undone);
        self.order = order;
        files
    }

    /// Restores files to the contents with these hashes, and deletes files. Rejects files without a snapshot.
    pub fn restore(&mut self, restore: &[(PathBuf, String)], delete: &[PathBuf]) -> Restored {
        self.snapshots().restore(restore, delete)
    }

    fn snapshots(&mut self) -> &mut Snapshots {
        let (paths, limits) = (&self.paths, self.limits);
        self.snapshots.get_or_insert_with(|| Snapshots::open(paths, limits))
    }

    /// Archives the session, so that lists no longer show it.
    pub fn archive(&mut self) -> Result<()> {
        let mut settings = self.settings.clone();
        let now = jiff::Timestamp::now().as_millisecond();
        settings.insert("archivedAt".to_owned(), record::timestamp(now).into());
        self.save_settings(settings)
    }

    /// Restores the session from the archive.
    pub fn unarchive(&mut self) -> Result<()> {
        let mut settings = self.settings.clone();
        settings.shift_remove("archivedAt");
        self.save_settings(settings)
    }

    pub(super) fn write_settings(&mut self, mut settings: Map<String, Value>, is_synced: bool) -> Result<()> {
        self.lease.check()?;
        settings.insert("musher".to_owned(), self.start.summary());
        settings_file::write(&*self.disk, &self.paths, &settings, is_synced)?;
        self.settings = settings;
        Ok(())
    }

    /// Tries to write the pending records. If that fails, it is retried before the next record.
    pub(super) fn settle_if_pending(&mut self) {
        if !self.pending.is_empty()
            && let Err(error) = self.settle()
        {
            tracing::warn!(error = %error.with_causes(), session = %self.id(), "cannot write results of interrupted calls yet");
        }
    }

    /// Repairs the file and writes pending records, so that new records can be appended.
    fn settle(&mut self) -> Result<()> {
        self.lease.check()?;
        let path = self.paths.log();
        match self.repair {
            None => {}
            Some(Repair::Rewrite) if self.lease.is_exclusive() => {
                let outline = Outline::read(&self.paths)?;
                // keeps the damaged file under a second name before it is replaced
                let backup = self.paths.damaged(jiff::Timestamp::now().as_millisecond());
                fs_err::hard_link(&path, backup).at("back up", &path)?;
                let line = self.start.line();
                self.replace_with(&mut |out| {
                    out.write_all(&line)?;
                    outline.pieces.iter().try_for_each(|piece| outline.copy(*piece, out))
                })?;
            }
            Some(Repair::Truncate { length }) if self.lease.is_exclusive() => {
                let disk = Arc::clone(&self.disk);
                disk.truncate(self.open()?, length).at("truncate", &path)?;
                self.length = length;
                self.repair = None;
            }
            Some(Repair::WriteAgain) if self.lease.is_exclusive() => {
                let old = disk::open_to_read(&path).at("read", &path)?;
                let length = old.metadata().at("read", &path)?.len();
                let end = self.length.saturating_sub(self.unsynced.len() as u64).min(length);
                let unsynced = std::mem::take(&mut self.unsynced);
                let replaced = self.replace_with(&mut |out| {
                    copy_range(&old, 0..end, out)?;
                    out.write_all(&unsynced)
                });
                if replaced.is_err() {
                    self.unsynced = unsynced;
                }
                replaced?;
            }
            Some(Repair::WriteAgain) => {
                // other processes write to this file as well, so the data can only be appended a second time
                self.repair = None;
                let again = std::mem::take(&mut self.unsynced);
                self.file = None;
                if let Err(error) = self.write(&again) {
                    self.unsynced = again;
                    return Err(error);
                }
                let disk = Arc::clone(&self.disk);
                disk.sync(self.open()?).at("sync", &path)?;
                self.unsynced.clear();
            }
            // the next record must begin on a new line
            Some(Repair::EndLine | Repair::Rewrite | Repair::Truncate { .. }) => {
                self.repair = None;
                if let Err(error) = self.write(b"\n") {
                    self.repair = Some(Repair::EndLine);
                    return Err(error);
                }
            }
        }
        while let Some(record) = self.pending.first().cloned() {
            self.add(&record)?;
            self.pending.remove(0);
        }
        Ok(())
    }

    fn add(&mut self, record: &Record) -> Result<()> {
        let is_synced = self.durability == Durability::Power;
        let line = side::line_of(&*self.disk, &self.paths, record.json(), is_synced)?;
        self.write(&line)?;
        self.keep_place(record);
        Ok(())
    }

    /// Keeps the place of a message among the others.
    pub(super) fn keep_place(&mut self, record: &Record) {
        if let Record::Message(message) = record {
            let next = self.order.len();
            self.order.entry(message.id.clone()).or_insert(next);
        }
    }

    /// Writes bytes with one call, all or nothing.
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let disk = Arc::clone(&self.disk);
        let written = loop {
            match disk.write(self.open()?, bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => break written,
            }
        };
        let failure = match written {
            Ok(length) if length == bytes.len() => {
                self.length += bytes.len() as u64;
                if self.durability == Durability::Power {
                    self.unsynced.extend_from_slice(bytes);
                }
                return Ok(());
            }
            Ok(_part) => io::Error::new(io::ErrorKind::StorageFull, "incomplete write"),
            Err(error) => error,
        };
        self.repair = Some(if self.lease.is_exclusive() {
            Repair::Truncate { length: self.length }
        } else {
            Repair::EndLine
        });
        // repair now if possible, otherwise before the next record
        let length = self.length;
        if self.lease.is_exclusive()
            && let Ok(file) = self.open()
            && disk.truncate(file, length).is_ok()
        {
            self.repair = None;
        }
        self.file = None;
        Err(failure).at("append to", &self.paths.log())
    }

    fn open(&mut self) -> Result<&File> {
        if self.file.is_none() {
            let path = self.paths.log();
            self.file = Some(self.disk.append_to(&path).at("open", &path)?);
        }
        self.file.as_ref().ok_or_else(|| StoreError::NotFound(self.paths.id().clone()))
    }

    /// Reads the whole file.
    fn content(&self) -> Result<Vec<u8>> {
        let path = self.paths.log();
        disk::read_small(&path, scan::MAX_LOG).at("read", &path)
    }

    /// Replaces the file by a new one.
    fn replace_with(&mut self, content: &mut disk::Content<'_>) -> Result<()> {
        let path = self.paths.log();
        self.file = None;
        self.length = self.disk.put_with(&path, true, content)?;
        self.unsynced.clear();
        self.repair = None;
        self.is_name_unsynced = true;
        self.sync_name()
            .inspect_err(|error| tracing::warn!(error = %error.with_causes(), "power loss may undo a change of the log"))
            .ok();
        Ok(())
    }

    fn sync_name(&mut self) -> Result<()> {
        if self.is_name_unsynced {
            self.disk.sync_folder_of(&self.paths.log())?;
            self.is_name_unsynced = false;
        }
        Ok(())
    }
}

/// Returns the first line, and where the rest of the file is.
fn first_line(log: &File) -> io::Result<(Vec<u8>, Range<u64>)> {
    let length = log.metadata()?.len();
    let mut line = Vec::new();
    BufReader::new(log.try_clone()?).take(scan::MAX_LINE).read_until(b'\n', &mut line)?;
    let begin = line.len() as u64;
    // without a line end there is no other line
    Ok(if line.last() == Some(&b'\n') { (line, begin..length) } else { (line, length..length) })
}

/// Returns whether the first line of a log has a title that the user gave. A daemon of droid writes it there while another process has
/// the session.
fn is_manual_title(line: &[u8]) -> bool {
    let line = serde_json::from_slice(line).ok().and_then(record::parse);
    matches!(line, Some(Line::Start(start)) if start.is_title_manual())
}
