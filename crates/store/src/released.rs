//! A session that this process has open but does not own: others may write it in the meantime.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::error::{Result, StoreError};
use super::lease::{NoLease, Purpose};
use super::log::Log;
use super::open::{Closing, Loaded, Store, Stored};
use super::paths::Paths;
use super::{Damage, SessionId};

/// A session that this process has open and does not own. It takes no part in the session until it [acquires](Self::acquire) it.
#[derive(Debug)]
pub struct Released {
    store: Store,
    paths: Paths,
    /// The log with everything it knows; gone once it was acquired.
    log: Option<Box<Log>>,
    /// What the log knows; `None` if it may be out of date already.
    seen: Option<Seen>,
}

/// A session to read now and to write later.
#[derive(Debug)]
pub struct Attached {
    /// The session, for [acquiring](Released::acquire) it.
    pub released: Released,
    /// Its content at this moment.
    pub session: Stored,
}

/// A session that was acquired.
#[derive(Debug)]
pub enum Acquired {
    /// No other process has written it since it was released.
    Unchanged(Box<Log>),
    /// Others have written it: its whole content.
    Changed(Box<Loaded>),
}

/// A state of the files of a session. Equal states have equal contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    /// The token of the last lease.
    token: u64,
    /// The log. Other programs may write it without a lease.
    log: FileState,
}

/// What the file system says about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    device: u64,
    inode: u64,
    length: u64,
}

impl FileState {
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs_err::symlink_metadata(path).ok()?;
        Some(Self { device: metadata.dev(), inode: metadata.ino(), length: metadata.len() })
    }
}

impl Seen {
    fn now(paths: &Paths, token: u64) -> Option<Self> {
        Some(Self { token, log: FileState::of(&paths.log())? })
    }
}

impl Released {
    /// Returns the id of the session.
    pub fn id(&self) -> &SessionId {
        self.paths.id()
    }

    /// Returns the path of the log.
    pub fn path(&self) -> std::path::PathBuf {
        self.paths.log()
    }

    /// Takes the lease of the session, and reads what others have written.
    ///
    /// Fails with [`StoreError::Locked`] while another process has the lease; it can be tried again then.
    pub fn acquire(&mut self, purpose: Purpose) -> Result<Acquired> {
        let id = self.paths.id();
        if self.log.is_none() || FileState::of(&self.paths.log()).is_none() {
            return Err(StoreError::NotFound(id.clone()));
        }
        let lease = self.store.leases.take(id, self.paths.folder(), purpose)?;
        let expected = self.seen.map(|seen| Seen { token: seen.token + 1, ..seen });
        let is_unchanged = expected.is_some() && Seen::now(&self.paths, lease.token()) == expected;
        match self.log.take() {
            Some(mut log) if is_unchanged => {
                log.lease = lease;
                log.settle_if_pending();
                Ok(Acquired::Unchanged(log))
            }
            log => match self.store.load_owned(&self.paths, lease) {
                Ok(loaded) => Ok(Acquired::Changed(Box::new(loaded))),
                Err(error) => {
                    self.log = log;
                    Err(error)
                }
            },
        }
    }
}

impl Log {
    /// Releases the lease, so that other processes can write the session. This log refuses every write from then on.
    pub fn release(&mut self) -> Released {
        let (store, paths) = (self.store.clone(), self.paths.clone());
        let no_lease = || Box::new(NoLease(paths.id().clone()));
        let mut log =
            std::mem::replace(self, Self::new(&store, paths.clone(), no_lease(), self.start.clone()));
        // another process may replace the file
        log.file = None;
        let is_settled = log.repair.is_none() && log.pending.is_empty();
        let seen = Seen::now(&paths, log.lease.token()).filter(|_| is_settled && log.lease.check().is_ok());
        // drops the lease
        log.lease = no_lease();
        Released { store, paths, log: Some(Box::new(log)), seen }
    }
}

impl Store {
    /// Reads a session that will be written later, even while another process writes it.
    ///
    /// Repairs damage if the session is not in use. If it is, the end of the log is not damaged but being written, and a call without a
    /// result still runs.
    pub fn attach(&self, id: &SessionId) -> Result<Attached> {
        let paths = self.paths(id)?;
        let last = self.leases.last(id, paths.folder());
        let seen = Seen::now(&paths, last.token).filter(|_| last.holder.is_none());
        let (log, session) = self.view(&paths, Closing::All)?;
        if session.damage == Damage::default() && log.repair.is_none() {
            let released = Released { store: self.clone(), paths, log: Some(Box::new(log)), seen };
            return Ok(Attached { released, session });
        }
        match self.load(id) {
            Ok(Loaded { mut log, session }) => Ok(Attached { released: log.release(), session }),
            Err(StoreError::Locked { .. }) => {
                let (log, mut session) = self.view(&paths, Closing::None)?;
                session.damage = Damage::default();
                let released = Released { store: self.clone(), paths, log: Some(Box::new(log)), seen: None };
                Ok(Attached { released, session })
            }
            Err(error) => Err(error),
        }
    }

    /// Reads a session without its lease.
    fn view(&self, paths: &Paths, closing: Closing) -> Result<(Log, Stored)> {
        let (log, session, _) = self.read_into(paths, Box::new(NoLease(paths.id().clone())), closing)?;
        Ok((log, session))
    }
}
