//! Creates, finds and opens sessions, to resume them or read-only.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::branch::{self, Conversation};
use super::disk::{self, Disk, RealDisk};
use super::error::{At, Result, StoreError};
use super::lease::files::FileLeases;
use super::lease::{Lease, Leases, Purpose};
use super::log::Log;
use super::outline::Outline;
use super::paths::Paths;
use super::record::{Compaction, Record, Start};
use super::released::Attached;
use super::scan::{self, Scan};
use super::{Durability, SessionId, SnapshotLimits, settings_file, side, slug};
use musher_message::{Message, Role};

/// Title of a session without messages.
const DEFAULT_TITLE: &str = "New Session";

/// All sessions of a home directory.
#[derive(Debug, Clone)]
pub struct Store {
    sessions: PathBuf,
    pub(super) durability: Durability,
    pub(super) limits: SnapshotLimits,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) leases: Arc<dyn Leases>,
}

/// A session to create.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Id of the session.
    pub id: SessionId,
    /// Working directory.
    pub cwd: PathBuf,
    /// Title, if the user has given one.
    pub title: Option<String>,
    /// Owner, if known.
    pub owner: Option<String>,
    /// Id of the machine, if it has one.
    pub host_id: Option<String>,
    /// Id of the session that this one was forked or compacted from.
    pub parent: Option<SessionId>,
    /// Settings, with droid's field names.
    pub settings: Map<String, Value>,
    /// Additional fields of the first line.
    pub extra: Map<String, Value>,
}

/// A session opened for writing.
#[derive(Debug)]
pub struct Loaded {
    /// The log, for appending records.
    pub log: Log,
    /// The content of the session.
    pub session: Stored,
}

/// The content of a session.
#[derive(Debug)]
pub struct Stored {
    /// Id of the session.
    pub id: SessionId,
    /// The first line: title, working directory, owner.
    pub start: Start,
    /// The messages, oldest first. Every tool call has a result, unless another process is running it.
    pub messages: Vec<Message>,
    /// The latest compaction.
    pub compaction: Option<Compacted>,
    /// Queued messages: accepted, but not processed yet.
    pub queued: Vec<Message>,
    /// The to-do list.
    pub todos: Option<Value>,
    /// Settings, with droid's field names.
    pub settings: Map<String, Value>,
    /// Time of the last write, in milliseconds since 1970.
    pub modified_ms: i64,
    /// The damage found while reading.
    pub damage: Damage,
}

/// A compaction: a summary and the messages that it replaces.
#[derive(Debug, Clone, PartialEq)]
pub struct Compacted {
    /// The summary.
    pub summary: Compaction,
    /// Number of messages that the summary replaces, from the first one on. The model gets the others unchanged.
    pub removed: usize,
}

/// The damage found in a session. It is repaired before the first write, so that it is reported once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// Number of lines that could not be parsed completely.
    pub damaged_lines: usize,
    /// Whether the last record is incomplete.
    pub is_torn: bool,
    /// Whether the first line is missing.
    pub is_start_lost: bool,
    /// Number of large records whose file is missing or damaged, so that only their shortened form is available.
    pub missing_large_records: usize,
    /// Whether the settings were lost; the previous version is used, if it exists.
    pub are_settings_lost: bool,
    /// Number of tool calls without a result, which got an error result.
    pub interrupted_calls: usize,
}

impl Damage {
    /// Returns whether no data was lost. Interrupted tool calls are not a loss.
    pub fn is_none(&self) -> bool {
        *self == Self { interrupted_calls: self.interrupted_calls, ..Self::default() }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let whole_lines = self.damaged_lines - usize::from(self.is_torn && self.damaged_lines > 0);
        if whole_lines > 0 {
            parts.push(format!("{whole_lines} damaged lines were skipped"));
        }
        if self.is_torn {
            parts.push("the last record is incomplete".to_owned());
        }
        if self.is_start_lost {
            parts.push("the first line is missing".to_owned());
        }
        if self.missing_large_records > 0 {
            parts.push(format!("{} large records are truncated", self.missing_large_records));
        }
        if self.are_settings_lost {
            parts.push("the settings are lost".to_owned());
        }
        if self.interrupted_calls > 0 {
            parts.push(format!("{} tool calls were interrupted", self.interrupted_calls));
        }
        if parts.is_empty() { f.write_str("no damage") } else { f.write_str(&parts.join("; ")) }
    }
}

impl Store {
    /// Opens the sessions of a home directory. Creates no files before a session is created.
    pub fn open(home: impl AsRef<Path>) -> Self {
        Self::on(home.as_ref(), Arc::new(RealDisk))
    }

    /// Opens the sessions in this folder, which need not be in a home. Nothing is created before a session is.
    pub fn in_folder(sessions: impl Into<PathBuf>) -> Self {
        Self::with_disk(sessions.into(), Arc::new(RealDisk))
    }

    pub(super) fn on(home: &Path, disk: Arc<dyn Disk>) -> Self {
        Self::with_disk(Self::sessions_dir(home), disk)
    }

    fn with_disk(sessions: PathBuf, disk: Arc<dyn Disk>) -> Self {
        let leases = Arc::new(FileLeases::new(Arc::clone(&disk)));
        Self { sessions, durability: Durability::default(), limits: SnapshotLimits::default(), disk, leases }
    }

    /// Sets who gives out the leases of sessions. The default is for processes of one machine.
    #[must_use]
    pub fn leases(mut self, leases: Arc<dyn Leases>) -> Self {
        self.leases = leases;
        self
    }

    /// Sets the durability of records. The default is [`Durability::Process`].
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the limits for file snapshots.
    #[must_use]
    pub fn snapshot_limits(mut self, limits: SnapshotLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the directory of all sessions, for SDKs that need its path.
    pub fn sessions_folder(&self) -> &Path {
        &self.sessions
    }

    /// Creates a session.
    pub fn create(&self, new: NewSession) -> Result<Log> {
        self.create_with(new, &[])
    }

    /// Creates a session that begins with these records. Creates all of it or nothing.
    pub fn create_with(&self, new: NewSession, records: &[Record]) -> Result<Log> {
        let cwd = resolved(&new.cwd);
        let folder = self.sessions.join(slug(&cwd));
        disk::make_folder(&folder)?;
        let paths = Paths::new(folder, new.id.clone());
        let lease = self.lease_new(&paths)?;
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
        let length = content.len() as u64;
        let mut log = Log { length, order, ..Log::new(self, paths, lease, start) };
        // write the settings first: without them, the session would load with other settings
        log.write_settings(new.settings, is_synced)?;
        self.disk.replace(&log.path(), &content, is_synced)?;
        Ok(log)
    }

    /// Takes the lease of a session that must not exist yet.
    pub(super) fn lease_new(&self, paths: &Paths) -> Result<Box<dyn Lease>> {
        let is_existing = || self.find(paths.id()).is_some();
        let exists = || StoreError::Exists(paths.id().clone());
        // check before taking the lease, because a writer has it, and after, because another process may have been faster
        if is_existing() {
            return Err(exists());
        }
        let lease = self.leases.take(paths.id(), paths.folder(), Purpose::Change)?;
        if is_existing() { Err(exists()) } else { Ok(lease) }
    }

    /// Opens a session for writing, to change it. The log has the lease of the session until it is released or dropped.
    ///
    /// Fails with [`StoreError::Locked`] while another process has the lease; [`read`](Self::read) and [`attach`](Self::attach) work in
    /// that case.
    pub fn load(&self, id: &SessionId) -> Result<Loaded> {
        let paths = self.paths(id)?;
        let lease = self.leases.take(id, paths.folder(), Purpose::Change)?;
        self.load_owned(&paths, lease)
    }

    /// Opens a session to change its title or its settings, and reads no message: its log may have any size.
    ///
    /// Unlike [`load`](Self::load) it writes no results of interrupted calls.
    pub fn load_log(&self, id: &SessionId) -> Result<Log> {
        let paths = self.paths(id)?;
        let lease = self.leases.take(id, paths.folder(), Purpose::Change)?;
        let outline = Outline::read(&paths)?;
        let (settings, _) = settings_file::read(&paths);
        let start = outline.start(id, &settings);
        let (length, repair) = (outline.scan.length, outline.scan.repair());
        Ok(Log { length, settings, repair, ..Log::new(self, paths, lease, start) })
    }

    /// Opens a session whose lease was taken.
    pub(super) fn load_owned(&self, paths: &Paths, lease: Box<dyn Lease>) -> Result<Loaded> {
        let (mut log, session, _) = self.read_into(paths, lease, Closing::All)?;
        log.settle_if_pending();
        Ok(Loaded { log, session })
    }

    /// Opens a session whose last turn was interrupted, to continue it. Returns the calls of its last answer that have neither a result nor
    /// [started](Record::call_started): they stay without a result, and must get one before the next prompt. `None` if the turn has ended.
    pub fn attach_interrupted(&self, id: &SessionId) -> Result<(Attached, Option<Vec<String>>)> {
        let paths = self.paths(id)?;
        let lease = self.leases.take(id, paths.folder(), Purpose::Change)?;
        let (mut log, session, open) = self.read_into(&paths, lease, Closing::Started)?;
        log.settle_if_pending();
        Ok((Attached { released: log.release(), session }, open))
    }

    /// Reads a session and what its log has to know. Writes nothing.
    pub(super) fn read_into(
        &self,
        paths: &Paths,
        lease: Box<dyn Lease>,
        closing: Closing,
    ) -> Result<(Log, Stored, Option<Vec<String>>)> {
        let (scan, mut session) = read(paths)?;
        let mut log = Log {
            length: scan.length,
            settings: session.settings.clone(),
            repair: scan.repair(),
            ..Log::new(self, paths.clone(), lease, session.start.clone())
        };
        let (mut started, mut is_over) = (HashSet::new(), false);
        let records = scan.records.into_iter().map(|(_, record)| record).inspect(|record| {
            log.keep_place(record);
            started.extend(record.started_call().map(str::to_owned));
            is_over = match record {
                Record::TurnOutcome { .. } => true,
                Record::Message(message) => is_over && message.role != Role::User,
                _ => is_over,
            };
        });
        fill(&mut session, records);
        let open = match closing {
            Closing::Started if !is_over => {
                let mut open = branch::open_calls(&session.messages);
                open.retain(|id| !started.contains(id));
                Some(open)
            }
            _ => None,
        };
        if closing != Closing::None {
            let results = close_calls(&mut session, &open.iter().flatten().cloned().collect());
            log.pending = results.into_iter().map(|message| Record::Message(Box::new(message))).collect();
        }
        log.start = session.start.clone();
        Ok((log, session, open))
    }

    /// Reads a session without changing it, even while another process writes it.
    pub fn read(&self, id: &SessionId) -> Result<Stored> {
        let (scan, mut session) = read(&self.paths(id)?)?;
        fill(&mut session, scan.records.into_iter().map(|(_, record)| record));
        close_calls(&mut session, &HashSet::new());
        Ok(session)
    }

    /// Returns the path of a session's log. Of several sessions with one id, the one written last is used.
    pub fn find(&self, id: &SessionId) -> Option<PathBuf> {
        self.paths(id).ok().map(|paths| paths.log())
    }

    /// Returns the path that the log of a new session would have.
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

    /// Returns the directories that may contain sessions. Old versions of droid put sessions directly into the top directory.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let entries = fs_err::read_dir(&self.sessions).map(|entries| entries.flatten().collect::<Vec<_>>());
        let folders = entries.unwrap_or_default().into_iter().filter(|entry| {
            entry.file_name().as_encoded_bytes().starts_with(b"-")
                && entry.file_type().is_ok_and(|kind| kind.is_dir())
        });
        folders.map(|entry| entry.path()).chain([self.sessions.clone()]).collect()
    }
}

/// Which calls without a result get one when a session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    All,
    None,
    /// All but those of the last answer that have not started.
    Started,
}

/// Reads the files of a session, without building the conversation.
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

/// Builds the conversation.
fn fill(session: &mut Stored, records: impl Iterator<Item = Record>) {
    let Conversation { messages, compaction, todos, queued, title } = branch::conversation(records);
    session.messages = messages;
    session.compaction = compaction.map(|(summary, removed)| Compacted { summary, removed });
    session.todos = todos;
    session.queued = queued;
    if let Some((title, is_manual)) = title {
        retitle(&mut session.start, title, is_manual);
    }
}

/// Sets the title that was given after the first line, unless that has one of the user.
pub(super) fn retitle(start: &mut Start, title: String, is_manual: bool) {
    // another program may have written the user's title into the first line
    if is_manual || !start.is_title_manual() {
        start.set("title", title);
        start.set("isSessionTitleManuallySet", is_manual);
    }
}

/// Adds a result to every tool call without one. Returns the messages to write.
fn close_calls(session: &mut Stored, leaves_open: &HashSet<String>) -> Vec<Message> {
    let (interrupted, results) = branch::close_calls(&mut session.messages, leaves_open);
    session.damage.interrupted_calls = interrupted;
    results
}

fn first_line(new: &NewSession, cwd: &Path) -> Start {
    let title = new.title.as_deref().unwrap_or(DEFAULT_TITLE);
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

/// Returns a first line for a log without one.
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

/// Returns the path of a directory without symbolic links, as droid does.
pub(super) fn resolved(path: &Path) -> PathBuf {
    fs_err::canonicalize(path)
        .or_else(|_missing| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}
