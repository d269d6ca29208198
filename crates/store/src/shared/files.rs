//! The implementation for one machine: files below `<home>/daemon`, which one daemon at a time owns.
//!
//! - `lock`: locked by the daemon that runs.
//! - `host-id`: identifies the machine to clients.
//! - `inbox.jsonl`: open requests of all sessions.
//! - `sessions/<id>/prompts.jsonl`: accepted prompts.
//! - `spending.json`, `sessions/<id>/spending.json`: what was spent on the day, and by the session.
//! - `sessions/<id>/events/<first sequence>.log`: events, in segments of which the oldest are deleted.

mod event_log;
mod inbox_file;
mod prompt_files;
mod spending_files;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use self::event_log::FileEventLog;
use self::inbox_file::InboxFile;
use self::prompt_files::PromptFiles;
use self::spending_files::SpendingFiles;
use super::{EventLog, Events, Inbox, InboxItem, Ledger, PromptQueue, QueuedPrompt, Receipt, Spent};
use crate::disk::{self, Disk, RealDisk};
use crate::error::{At as _, Result};
use crate::{SessionId, StoreError};

/// Maximum size of a segment of events in bytes.
const SEGMENT: u64 = 8 * 1024 * 1024;
/// Number of segments of a session that are kept.
const SEGMENTS: usize = 8;

/// Events, prompts and open requests in files of this machine.
#[derive(Debug)]
pub struct DaemonFiles {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    segment: u64,
    prompts: PromptFiles,
    inbox: Mutex<Option<InboxFile>>,
    spending: SpendingFiles,
}

/// The right to be the daemon of a home. Ends when it is dropped, and with its process.
#[derive(Debug)]
pub struct DaemonLock(File);

impl std::os::fd::AsFd for DaemonLock {
    /// The file that is locked while it is open.
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl DaemonFiles {
    /// Opens the files in the home directory. Creates nothing before something is written.
    pub fn open(home: &Path) -> Self {
        Self::on(home, Arc::new(RealDisk), SEGMENT)
    }

    pub(crate) fn on(home: &Path, disk: Arc<dyn Disk>, segment: u64) -> Self {
        let folder = home.join("daemon");
        let prompts = PromptFiles::new(Arc::clone(&disk), folder.join("sessions"));
        let spending = SpendingFiles::new(Arc::clone(&disk), folder.clone());
        Self { folder, disk, segment, prompts, inbox: Mutex::new(None), spending }
    }

    /// Makes this process the daemon of the home. Fails with [`StoreError::DaemonRuns`] if there is one.
    pub fn lock(&self) -> Result<DaemonLock> {
        disk::make_folder(&self.folder)?;
        let path = self.folder.join("lock");
        let file = self.disk.open_lock(&path).at("open", &path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                let note = disk::read_small(&path, 64).unwrap_or_default();
                let note = String::from_utf8_lossy(&note);
                let pid = note.split_whitespace().next().and_then(|pid| pid.parse().ok());
                return Err(StoreError::DaemonRuns { pid });
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(error).at("lock", &path),
        }
        self.note_holder(file)
    }

    /// Continues to be the daemon of the home, with the lock that this process has kept from the program that it was.
    pub fn keep_lock(&self, lock: std::os::fd::OwnedFd) -> Result<DaemonLock> {
        self.note_holder(File::from(lock))
    }

    /// Returns a text that changes whenever another program becomes the daemon of the home.
    pub fn holder(&self) -> Option<String> {
        let note = disk::read_small(&self.folder.join("lock"), 64).ok()?;
        String::from_utf8(note).ok()
    }

    fn note_holder(&self, file: File) -> Result<DaemonLock> {
        let path = self.folder.join("lock");
        let start = jiff::Timestamp::now().as_nanosecond();
        let note = format!("{} {start}\n", std::process::id());
        self.disk.write_note(&file, note.as_bytes()).at("write", &path)?;
        Ok(DaemonLock(file))
    }

    /// Returns the id of this machine, which is made when it is first needed.
    pub fn host_id(&self) -> Result<String> {
        let path = self.folder.join("host-id");
        if let Ok(bytes) = disk::read_small(&path, 64)
            && let Ok(text) = String::from_utf8(bytes)
            && uuid::Uuid::parse_str(text.trim()).is_ok()
        {
            return Ok(text.trim().to_owned());
        }
        disk::make_folder(&self.folder)?;
        let id = uuid::Uuid::new_v4().to_string();
        self.disk.replace(&path, format!("{id}\n").as_bytes(), false)?;
        Ok(id)
    }

    fn with_inbox<T>(&self, act: impl FnOnce(&mut InboxFile) -> Result<T>) -> Result<T> {
        let mut inbox = self.inbox.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let file = match inbox.take() {
            Some(file) => file,
            None => InboxFile::open(Arc::clone(&self.disk), self.folder.join("inbox.jsonl"))?,
        };
        act(inbox.insert(file))
    }

    fn events_folder(&self, session: &SessionId) -> PathBuf {
        self.folder.join("sessions").join(session.as_str()).join("events")
    }
}

impl Events for DaemonFiles {
    fn open_events(&self, session: &SessionId) -> Result<Box<dyn EventLog>> {
        let folder = self.events_folder(session);
        Ok(Box::new(FileEventLog::open(Arc::clone(&self.disk), folder, self.segment)?))
    }

    fn remove_events(&self, session: &SessionId) -> Result<()> {
        let folder = self.events_folder(session);
        match fs_err::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at("delete", &folder),
            _ => Ok(()),
        }
    }
}

impl PromptQueue for DaemonFiles {
    fn accept(&self, session: &SessionId, prompt: &QueuedPrompt) -> Result<Receipt> {
        self.prompts.accept(session, prompt)
    }

    fn delivered(&self, session: &SessionId, message_id: &str) -> Result<()> {
        self.prompts.delivered(session, message_id)
    }

    fn rejected(&self, session: &SessionId, message_id: &str) -> Result<()> {
        self.prompts.rejected(session, message_id)
    }

    fn waiting(&self, session: &SessionId) -> Result<Vec<QueuedPrompt>> {
        self.prompts.waiting(session)
    }

    fn sessions_with_waiting(&self) -> Result<Vec<SessionId>> {
        self.prompts.sessions_with_waiting()
    }
}

impl Ledger for DaemonFiles {
    fn spend(&self, session: &SessionId, day: &str, amount: Spent) -> Result<()> {
        self.spending.spend(session, day, amount)
    }

    fn spent(&self, session: &SessionId, day: &str) -> Result<(Spent, Spent)> {
        self.spending.spent(session, day)
    }
}

impl Inbox for DaemonFiles {
    fn put(&self, item: &InboxItem) -> Result<()> {
        self.with_inbox(|inbox| inbox.put(item))
    }

    fn close(&self, request_id: &str) -> Result<bool> {
        self.with_inbox(|inbox| inbox.close(request_id))
    }

    fn open_items(&self) -> Result<Vec<InboxItem>> {
        self.with_inbox(|inbox| Ok(inbox.items()))
    }
}

#[cfg(test)]
mod tests;
