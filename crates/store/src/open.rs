//! Makes sessions, finds them, and opens them: to write, or only to read.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::branch::{self, Conversation};
use super::disk::{self, Disk, RealDisk};
use super::error::{At, Result, StoreError};
use super::lock::Lock;
use super::log::Log;
use super::paths::Paths;
use super::record::{Compaction, Record, Start};
use super::scan::{self, Scan};
use super::{Durability, SessionId, SnapshotLimits, settings_file, side, slug};
use musher_message::Message;

/// The title of a session in which nothing was said.
const NO_TITLE: &str = "New Session";

/// All sessions of a home.
#[derive(Debug, Clone)]
pub struct Store {
    sessions: PathBuf,
    pub(super) durability: Durability,
    limits: SnapshotLimits,
    pub(super) disk: Arc<dyn Disk>,
}

/// A session to be made.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// Where it works.
    pub cwd: PathBuf,
    /// Its title, if it has one already: one that the user gave.
    pub title: Option<String>,
    /// Whose it is, if that is known.
    pub owner: Option<String>,
    /// The machine, if it has an id.
    pub host_id: Option<String>,
    /// The session it came from.
    pub parent: Option<SessionId>,
    /// Its settings, with droid's names.
    pub settings: Map<String, Value>,
    /// Other fields of the first line.
    pub extra: Map<String, Value>,
}

/// A session that was opened for writing.
#[derive(Debug)]
pub struct Loaded {
    /// To write on.
    pub log: Log,
    /// What is in it.
    pub session: Stored,
}

/// What is in a session.
#[derive(Debug)]
pub struct Stored {
    /// Its id.
    pub id: SessionId,
    /// The first line: title, directory, owner.
    pub start: Start,
    /// The messages, from the first to the last said. Every call of a tool has a result.
    pub messages: Vec<Message>,
    /// The last summary.
    pub compaction: Option<Compacted>,
    /// Messages that were accepted and had not had their turn.
    pub queued: Vec<Message>,
    /// The list of things to do.
    pub todos: Option<Value>,
    /// The settings, with droid's names.
    pub settings: Map<String, Value>,
    /// When it was last written.
    pub modified_ms: i64,
    /// What is wrong with it.
    pub damage: Damage,
}

/// A summary and what it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Compacted {
    /// The summary.
    pub summary: Compaction,
    /// How many of the messages it stands for, from the first on. The rest is said to the model as it is.
    pub removed: usize,
}

/// What was found to be wrong with a session. It is healed before the first write, so that it is reported once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// Lines that were not, or not wholly, understood.
    pub damaged_lines: usize,
    /// Whether the last record was only written in part.
    pub is_torn: bool,
    /// Whether the first line was lost.
    pub is_start_lost: bool,
    /// Large records whose file is missing or damaged; a shortened form of them is there.
    pub missing_large_records: usize,
    /// Whether the settings were lost; those before them are used, if there are any.
    pub are_settings_lost: bool,
    /// Calls of tools that had no result and got one that says so.
    pub interrupted_calls: usize,
}

impl Damage {
    /// Whether nothing was lost. A call that was interrupted is no loss.
    pub fn is_none(&self) -> bool {
        *self == Self { interrupted_calls: self.interrupted_calls, ..Self::default() }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let whole_lines = self.damaged_lines - usize::from(self.is_torn && self.damaged_lines > 0);
        if whole_lines > 0 {
            parts.push(format!("{whole_lines} damaged lines were left out"));
        }
        if self.is_torn {
            parts.push("the last record was written only in part".to_owned());
        }
        if self.is_start_lost {
            parts.push("the first line was lost".to_owned());
        }
        if self.missing_large_records > 0 {
            parts.push(format!("{} large records are shortened", self.missing_large_records));
        }
        if self.are_settings_lost {
            parts.push("the settings were lost".to_owned());
        }
        if self.interrupted_calls > 0 {
            parts.push(format!("{} tool calls were interrupted", self.interrupted_calls));
        }
        if parts.is_empty() { f.write_str("nothing is wrong") } else { f.write_str(&parts.join("; ")) }
    }
}

impl Store {
    /// The sessions of a home. Nothing is made before a session is.
    pub fn open(home: impl AsRef<Path>) -> Self {
        Self::on(home.as_ref(), Arc::new(RealDisk))
    }

    pub(super) fn on(home: &Path, disk: Arc<dyn Disk>) -> Self {
        Self {
            sessions: home.join("sessions"),
            durability: Durability::default(),
            limits: SnapshotLimits::default(),
            disk,
        }
    }

    /// The same with another promise.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same with other limits for the files that are kept to go back to.
    #[must_use]
    pub fn snapshot_limits(mut self, limits: SnapshotLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The folder with all sessions, as SDKs want to be told it.
    pub fn sessions_folder(&self) -> &Path {
        &self.sessions
    }

    /// Makes a session.
    pub fn create(&self, new: NewSession) -> Result<Log> {
        self.create_with(new, &[])
    }

    /// Makes a session that begins with these records. It is there with all of them, or not at all.
    pub fn create_with(&self, new: NewSession, records: &[Record]) -> Result<Log> {
        let cwd = resolved(&new.cwd);
        let folder = self.sessions.join(slug(&cwd));
        disk::make_folder(&folder)?;
        let paths = Paths::new(folder, new.id.clone());
        let lock = self.lock_new(&paths)?;
        let start = first_line(&new, &cwd);
        let is_synced = self.durability == Durability::Power;
        let mut content = start.line();
        let mut order = HashMap::new();
        for record in records {
            content.extend(side::line_of(&*self.disk, &paths, record.json(), is_synced)?);
            if let Record::Message(message) = record {
                let next = order.len();
                order.entry(message.id.clone()).or_insert(next);
            }
        }
        let mut log = Log {
            disk: Arc::clone(&self.disk),
            durability: self.durability,
            lock,
            file: None,
            length: content.len() as u64,
            start,
            settings: Map::new(),
            cure: None,
            pending: Vec::new(),
            unsynced: Vec::new(),
            is_name_unsynced: false,
            order,
            snapshots: None,
            limits: self.limits,
            paths,
        };
        // the settings come first: a session without them would be one with others
        log.write_settings(new.settings, is_synced)?;
        self.disk.replace(&log.path(), &content, is_synced)?;
        Ok(log)
    }

    /// Takes the lock of a session that must not be there.
    pub(super) fn lock_new(&self, paths: &Paths) -> Result<Lock> {
        let is_there = || self.find(paths.id()).is_some();
        let exists = || StoreError::Exists(paths.id().clone());
        // before, since its writer has the lock; after, since somebody may have been quicker
        if is_there() {
            return Err(exists());
        }
        let lock = Lock::take(&*self.disk, &paths.lock(), paths.id())?;
        if is_there() { Err(exists()) } else { Ok(lock) }
    }

    /// Opens a session to go on with it.
    ///
    /// Fails with [`StoreError::Locked`] while somebody else writes it; [`read`](Self::read) works then, too.
    pub fn load(&self, id: &SessionId) -> Result<Loaded> {
        let paths = self.paths(id)?;
        let lock = Lock::take(&*self.disk, &paths.lock(), id)?;
        let (scan, mut session) = read(&paths)?;
        let mut log = Log {
            disk: Arc::clone(&self.disk),
            durability: self.durability,
            lock,
            file: None,
            length: scan.length,
            start: session.start.clone(),
            settings: session.settings.clone(),
            cure: scan.cure(),
            pending: Vec::new(),
            unsynced: Vec::new(),
            is_name_unsynced: false,
            order: HashMap::new(),
            snapshots: None,
            limits: self.limits,
            paths,
        };
        fill(&mut session, scan.records.into_iter().map(|(_, record)| record), Some(&mut log));
        Ok(Loaded { log, session })
    }

    /// Reads a session. Nothing is changed, and it does not matter who writes it.
    pub fn read(&self, id: &SessionId) -> Result<Stored> {
        let (scan, mut session) = read(&self.paths(id)?)?;
        fill(&mut session, scan.records.into_iter().map(|(_, record)| record), None);
        Ok(session)
    }

    /// The file of a session: of two with one id the one that was written last.
    pub fn find(&self, id: &SessionId) -> Option<PathBuf> {
        self.paths(id).ok().map(|paths| paths.log())
    }

    /// Where the log of a new session goes.
    pub fn place(&self, id: &SessionId, cwd: &Path) -> PathBuf {
        Paths::new(self.sessions.join(slug(&resolved(cwd))), id.clone()).log()
    }

    pub(super) fn paths(&self, id: &SessionId) -> Result<Paths> {
        let folders = self.folders();
        let there = folders.into_iter().filter_map(|folder| {
            let paths = Paths::new(folder, id.clone());
            let metadata = fs_err::symlink_metadata(paths.log()).ok().filter(std::fs::Metadata::is_file)?;
            Some((metadata.modified().ok(), paths))
        });
        let newest = there.max_by(|(one, _), (other, _)| one.cmp(other));
        newest.map(|(_, paths)| paths).ok_or_else(|| StoreError::NotFound(id.clone()))
    }

    /// The folders in which sessions can be. Old droids put them where the folders are.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let entries = fs_err::read_dir(&self.sessions).map(|entries| entries.flatten().collect::<Vec<_>>());
        let folders = entries.unwrap_or_default().into_iter().filter(|entry| {
            entry.file_name().as_encoded_bytes().starts_with(b"-")
                && entry.file_type().is_ok_and(|kind| kind.is_dir())
        });
        folders.map(|entry| entry.path()).chain([self.sessions.clone()]).collect()
    }
}

/// Reads the files of a session; the conversation is not made yet.
fn read(paths: &Paths) -> Result<(Scan, Stored)> {
    let path = paths.log();
    let file = disk::open_limited(&path, scan::MAX_LOG).at("open", &path)?;
    let modified = file.get_ref().metadata().and_then(|metadata| metadata.modified()).ok();
    let modified = modified.and_then(|at| jiff::Timestamp::try_from(at).ok());
    let sides = side::Sides::new(paths, side::MAX_SIDES_READ);
    let scan = scan::scan(file, &|hash| sides.read_record(hash)).at("read", &path)?;
    let (settings, are_settings_lost) = settings_file::read(paths);
    let start = scan.start.clone().unwrap_or_else(|| recovered(paths.id(), &settings));
    let session = Stored {
        id: paths.id().clone(),
        start,
        messages: Vec::new(),
        compaction: None,
        queued: Vec::new(),
        todos: None,
        modified_ms: modified.map_or(0, jiff::Timestamp::as_millisecond),
        damage: Damage {
            damaged_lines: scan.damaged,
            is_torn: scan.tail == scan::Tail::Torn,
            is_start_lost: scan.start.is_none(),
            missing_large_records: scan.missing_sides,
            are_settings_lost,
            interrupted_calls: 0,
        },
        settings,
    };
    Ok((scan, session))
}

/// Makes the conversation. What it lacks is written, now or before the next record.
fn fill(session: &mut Stored, records: impl Iterator<Item = Record>, mut log: Option<&mut Log>) {
    let records = records.inspect(|record| {
        if let (Record::Message(message), Some(log)) = (record, log.as_mut()) {
            let next = log.order.len();
            log.order.entry(message.id.clone()).or_insert(next);
        }
    });
    let Conversation { messages, compaction, todos, queued, title } = branch::conversation(records);
    session.messages = messages;
    session.compaction = compaction.map(|(summary, removed)| Compacted { summary, removed });
    session.todos = todos;
    session.queued = queued;
    if let Some((title, is_manual)) = title {
        session.start.set("title", title);
        session.start.set("isSessionTitleManuallySet", is_manual);
    }
    let (interrupted, results) = branch::close_calls(&mut session.messages);
    session.damage.interrupted_calls = interrupted;
    if let Some(log) = log {
        log.start = session.start.clone();
        log.pending = results.into_iter().map(|message| Record::Message(Box::new(message))).collect();
        log.settle_if_pending();
    }
}

fn first_line(new: &NewSession, cwd: &Path) -> Start {
    let title = new.title.as_deref().unwrap_or(NO_TITLE);
    let mut start = Start::new(&new.id, title, new.owner.as_deref().unwrap_or("unknown"), cwd);
    if let Some(host) = &new.host_id {
        start.set("hostId", host.as_str());
    }
    start.set("isSessionTitleManuallySet", new.title.is_some());
    if let Some(parent) = &new.parent {
        start.set("parent", parent.as_str());
    }
    for (key, value) in &new.extra {
        if start.get(key).is_none() {
            start.set(key, value.clone());
        }
    }
    start
}

/// A first line for a log that has lost its own.
pub(super) fn recovered(id: &SessionId, settings: &Map<String, Value>) -> Start {
    let known = |key: &str| settings.get("musher")?.get(key)?.as_str();
    let cwd = known("cwd").unwrap_or_default();
    let mut start = Start::new(id, known("title").unwrap_or("Recovered session"), "unknown", Path::new(cwd));
    if cwd.is_empty() {
        start.remove("cwd");
    }
    start.set("isSessionTitleManuallySet", false);
    start
}

/// A directory without links in its path, as droid names it.
pub(super) fn resolved(path: &Path) -> PathBuf {
    fs_err::canonicalize(path)
        .or_else(|_missing| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}
