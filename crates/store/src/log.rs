//! The writer of a session: what it returns from is on disk.
//!
//! A record is one write at the end of the file. A write that fails leaves the file as it was, and the next one may work. Only a
//! new title replaces the file, whole, because lists of sessions look for it in the first line and nowhere else.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::disk::{self, Disk};
use super::error::{At, Result, StoreError};
use super::lock::Lock;
use super::paths::Paths;
use super::record::{Record, Start};
use super::scan::{self, Cure};
use super::snapshots::{Restored, RewindFiles, SnapshotLimits, Snapshots};
use super::{Durability, SessionId, fork, settings_file, side};

/// More than this is not kept in memory for a sync that may fail.
const MOST_UNSYNCED: usize = 8 * 1024 * 1024;

/// The log of a session, open for writing. Nobody else can write it meanwhile.
#[derive(Debug)]
pub struct Log {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) paths: Paths,
    pub(super) durability: Durability,
    pub(super) lock: Lock,
    /// None after a failure; opened again by the next write.
    pub(super) file: Option<File>,
    /// How long the file is, as far as it is ours.
    pub(super) length: u64,
    pub(super) start: Start,
    pub(super) settings: Map<String, Value>,
    pub(super) cure: Option<Cure>,
    /// Records that could not be written at loading.
    pub(super) pending: Vec<Record>,
    /// The end of the file that may not have reached the medium.
    pub(super) unsynced: Vec<u8>,
    /// The file took the place of another, and after a power cut that may be there again.
    pub(super) is_name_unsynced: bool,
    /// The messages, and how many came before each.
    pub(super) order: HashMap<String, usize>,
    /// Opened when it is first needed.
    pub(super) snapshots: Option<Snapshots>,
    pub(super) limits: SnapshotLimits,
}

impl Log {
    /// The session.
    pub fn id(&self) -> &SessionId {
        self.paths.id()
    }

    /// The file of the log, for those who are told where it is.
    pub fn path(&self) -> PathBuf {
        self.paths.log()
    }

    /// The first line.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// The settings, as they were last saved.
    pub fn settings(&self) -> &Map<String, Value> {
        &self.settings
    }

    /// Whether others are kept from writing. Where the file system knows no locks, load the session again before each turn.
    pub fn is_exclusive(&self) -> bool {
        self.lock.is_exclusive
    }

    /// Adds a record. When this returns, it outlasts the process; see [`sync`](Self::sync) for a power cut.
    ///
    /// After an error nothing of it is in the log, and the log can be used on.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        self.settle()?;
        self.add(record)?;
        if self.unsynced.len() > MOST_UNSYNCED { self.sync() } else { Ok(()) }
    }

    /// All that was added is on the medium, if the store is to outlast a power cut; else nothing happens.
    ///
    /// A file whose sync failed is not trusted any more: what is not known to be on the medium is written to a new one.
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
        tracing::warn!(%error, "the log is written again");
        self.cure = Some(Cure::WriteAgain);
        self.settle()?;
        self.sync_name()
    }

    /// Replaces the settings.
    pub fn save_settings(&mut self, settings: Map<String, Value>) -> Result<()> {
        self.write_settings(settings, true)
    }

    /// Gives the session a title. One the user gave is not replaced by one that was made; then this returns `false`.
    pub fn set_title(&mut self, title: &str, is_manual: bool) -> Result<bool> {
        if self.start.is_title_manual() && !is_manual {
            return Ok(false);
        }
        let mut start = self.start.clone();
        start.set("title", title);
        start.set("isSessionTitleManuallySet", is_manual);
        // a name that droid gave would be shown in its place
        start.remove("sessionTitle");
        if !is_manual {
            start.set("sessionTitleAutoStage", "first_message");
        }
        if self.lock.is_exclusive {
            self.settle()?;
            let old = self.content()?;
            let rest = old.iter().position(|byte| *byte == b'\n').map_or(&[][..], |end| &old[end + 1..]);
            let mut content = start.line();
            content.extend_from_slice(rest);
            self.replace(&content)?;
        } else {
            // somebody may be adding to the file; lists show the old title
            self.append(&Record::Title { title: title.to_owned(), is_manual })?;
        }
        self.start = start;
        Ok(true)
    }

    /// Keeps a file as it is, before a tool changes it because of a message. The path is absolute and without links.
    pub fn snapshot(&mut self, message_id: &str, path: &Path) -> Result<()> {
        let disk = Arc::clone(&self.disk);
        let is_synced = self.durability == Durability::Power;
        self.snapshots().take(&*disk, message_id, path, is_synced)
    }

    /// The files that were changed because of a message or a later one. A message that is not known changed none.
    pub fn rewind_info(&mut self, message_id: &str) -> RewindFiles {
        let Some(&from) = self.order.get(message_id) else { return RewindFiles::default() };
        let order = std::mem::take(&mut self.order);
        let is_undone = |id: &str| order.get(id).is_some_and(|at| *at >= from);
        let files = self.snapshots().rewind(is_undone);
        self.order = order;
        files
    }

    /// Puts files back, each with the content of that hash, and removes files. Those that no snapshot knows are refused.
    pub fn restore(&mut self, restore: &[(PathBuf, String)], delete: &[PathBuf]) -> Restored {
        self.snapshots().restore(restore, delete)
    }

    fn snapshots(&mut self) -> &mut Snapshots {
        let (paths, limits) = (&self.paths, self.limits);
        self.snapshots.get_or_insert_with(|| Snapshots::open(paths, limits))
    }

    /// Puts the session away: lists do not show it any more.
    pub fn archive(&mut self) -> Result<()> {
        let mut settings = self.settings.clone();
        let now = jiff::Timestamp::now().as_millisecond();
        settings.insert("archivedAt".to_owned(), super::record::timestamp(now).into());
        self.save_settings(settings)
    }

    /// Takes it out again.
    pub fn unarchive(&mut self) -> Result<()> {
        let mut settings = self.settings.clone();
        settings.shift_remove("archivedAt");
        self.save_settings(settings)
    }

    pub(super) fn write_settings(&mut self, mut settings: Map<String, Value>, is_synced: bool) -> Result<()> {
        settings.insert("musher".to_owned(), self.start.summary());
        settings_file::write(&*self.disk, &self.paths, &settings, is_synced)?;
        self.settings = settings;
        Ok(())
    }

    /// Tries to write what was found to be missing; it is tried again before the next record.
    pub(super) fn settle_if_pending(&mut self) {
        if !self.pending.is_empty()
            && let Err(error) = self.settle()
        {
            tracing::warn!(%error, session = %self.id(), "results of interrupted calls are not in the log yet");
        }
    }

    /// Brings the file into a state in which something can be added.
    fn settle(&mut self) -> Result<()> {
        let path = self.paths.log();
        match self.cure {
            None => {}
            Some(Cure::WriteAnew) if self.lock.is_exclusive => {
                let content = self.whole_records()?;
                // a second name for the damaged file, which loses its first one
                let kept = self.paths.damaged(jiff::Timestamp::now().as_millisecond());
                fs_err::hard_link(&path, kept).at("keep a copy of", &path)?;
                self.replace(&content)?;
            }
            Some(Cure::Cut { length }) if self.lock.is_exclusive => {
                let disk = Arc::clone(&self.disk);
                disk.truncate(self.open()?, length).at("cut", &path)?;
                self.length = length;
                self.cure = None;
            }
            Some(Cure::WriteAgain) if self.lock.is_exclusive => {
                let length = usize::try_from(self.length).unwrap_or(usize::MAX);
                let mut content = self.content()?;
                content.truncate(length.saturating_sub(self.unsynced.len()));
                content.extend_from_slice(&self.unsynced);
                self.replace(&content)?;
            }
            Some(Cure::WriteAgain) => {
                // others write here, too: all that can be done is to write it twice
                self.cure = None;
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
            // whatever stands at the end, the next record begins a line
            Some(Cure::EndLine | Cure::WriteAnew | Cure::Cut { .. }) => {
                self.cure = None;
                if let Err(error) = self.write(b"\n") {
                    self.cure = Some(Cure::EndLine);
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
        if let Record::Message(message) = record {
            let next = self.order.len();
            self.order.entry(message.id.clone()).or_insert(next);
        }
        Ok(())
    }

    /// One write, all or nothing.
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
            Ok(_part) => io::Error::new(io::ErrorKind::StorageFull, "only a part could be written"),
            Err(error) => error,
        };
        self.cure =
            Some(if self.lock.is_exclusive { Cure::Cut { length: self.length } } else { Cure::EndLine });
        // at once if possible, else before the next record
        let length = self.length;
        if self.lock.is_exclusive
            && let Ok(file) = self.open()
            && disk.truncate(file, length).is_ok()
        {
            self.cure = None;
        }
        self.file = None;
        Err(failure).at("add to", &self.paths.log())
    }

    fn open(&mut self) -> Result<&File> {
        if self.file.is_none() {
            let path = self.paths.log();
            self.file = Some(self.disk.append_to(&path).at("open", &path)?);
        }
        self.file.as_ref().ok_or_else(|| StoreError::NotFound(self.paths.id().clone()))
    }

    /// The whole file as it is now.
    fn content(&self) -> Result<Vec<u8>> {
        let path = self.paths.log();
        disk::read_small(&path, scan::MAX_LOG).at("read", &path)
    }

    /// A log of all that is whole in this one.
    fn whole_records(&self) -> Result<Vec<u8>> {
        let (old, scan) = fork::whole(&self.paths)?;
        let mut content = self.start.line();
        for (at, _) in scan.records {
            content.extend_from_slice(scan::slice(&old, &at));
            content.push(b'\n');
        }
        Ok(content)
    }

    /// Another file takes the place of this one.
    fn replace(&mut self, content: &[u8]) -> Result<()> {
        let path = self.paths.log();
        self.file = None;
        self.disk.put(&path, content, true)?;
        self.length = content.len() as u64;
        self.unsynced.clear();
        self.cure = None;
        self.is_name_unsynced = true;
        self.sync_name()
            .inspect_err(|error| tracing::warn!(%error, "a power cut may undo a change of the log"))
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
