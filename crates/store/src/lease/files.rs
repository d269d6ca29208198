//! Leases of one machine: a lock of the kernel on a file, and a note in the file.
//!
//! The kernel releases the lock when its holder ends, even after a crash. The note has the token of the last lease and its holder. It has
//! a fixed length and is written with one call, so a reader sees the old one or the new one.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::{LastLease, Lease, Leases, Purpose};
use crate::SessionId;
use crate::disk::{self, Disk};
use crate::error::{At as _, Result, StoreError};
use crate::paths::Paths;

/// How long to wait for a process that only changes something.
const CHANGE_TIMEOUT: Duration = Duration::from_millis(500);
const POLL_INTERVAL: Duration = Duration::from_millis(3);
/// Maximum length of a note in bytes.
const MAX_NOTE: u64 = 64;

/// Leases of sessions in files of this machine.
#[derive(Debug, Clone)]
pub(crate) struct FileLeases {
    disk: Arc<dyn Disk>,
}

impl FileLeases {
    pub(crate) fn new(disk: Arc<dyn Disk>) -> Self {
        Self { disk }
    }
}

impl Leases for FileLeases {
    fn take(&self, id: &SessionId, folder: &Path, purpose: Purpose) -> Result<Box<dyn Lease>> {
        let path = Paths::new(folder.to_owned(), id.clone()).lock();
        let until = Instant::now() + CHANGE_TIMEOUT;
        let mut refused_by = None;
        loop {
            let file = self.disk.open_lock(&path).at("open", &path)?;
            let is_exclusive = match file.try_lock() {
                // the session may have been deleted in the meantime, and its lock with it
                Ok(()) if !is_at(&file, &path) => continue,
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => {
                    let note = Note::read(&path);
                    let holder = note.holder();
                    // the note of a turn counts if it is still there after a moment: a new holder may be about to replace it
                    let is_turn = note.purpose == Some(Purpose::Turn) && refused_by == Some(note);
                    if is_turn || Instant::now() >= until {
                        return Err(StoreError::Locked { id: id.clone(), holder });
                    }
                    refused_by = Some(note);
                    thread::sleep(POLL_INTERVAL);
                    continue;
                }
                Err(TryLockError::Error(error)) if is_unsupported(&error) => {
                    tracing::warn!(path = %path.display(), "the file system does not support locks");
                    false
                }
                Err(TryLockError::Error(error)) => return Err(error).at("lock", &path),
            };
            let token = Note::read(&path).token.saturating_add(1);
            let note = Note { token, pid: std::process::id(), purpose: Some(purpose) };
            if let Err(error) = self.disk.write_note(&file, &note.bytes()) {
                // a full disk: the lock holds without it, and nothing can be appended anyway
                tracing::warn!(%error, path = %path.display(), "cannot note the holder of a lease");
            }
            let disk = Arc::clone(&self.disk);
            return Ok(Box::new(FileLease { disk, id: id.clone(), path, file, token, is_exclusive }));
        }
    }

    fn last(&self, id: &SessionId, folder: &Path) -> LastLease {
        let note = Note::read(&Paths::new(folder.to_owned(), id.clone()).lock());
        LastLease { token: note.token, holder: note.holder() }
    }
}

/// The lease of a session in files.
#[derive(Debug)]
struct FileLease {
    disk: Arc<dyn Disk>,
    id: SessionId,
    path: PathBuf,
    file: File,
    token: u64,
    is_exclusive: bool,
}

impl Lease for FileLease {
    fn token(&self) -> u64 {
        self.token
    }

    fn check(&self) -> Result<()> {
        // the kernel keeps others out, unless the file system has no locks
        if self.is_exclusive || Note::read(&self.path).token == self.token {
            return Ok(());
        }
        Err(StoreError::NotOwned { id: self.id.clone() })
    }

    fn is_exclusive(&self) -> bool {
        self.is_exclusive
    }
}

impl Drop for FileLease {
    fn drop(&mut self) {
        let is_ours = self.is_exclusive || Note::read(&self.path).token == self.token;
        if is_ours {
            let note = Note { token: self.token, pid: 0, purpose: None };
            self.disk.write_note(&self.file, &note.bytes()).ok();
        }
        // not left to the closing of the file: a child that is being started may have a copy of it for a moment
        self.file.unlock().ok();
    }
}

/// The content of a lock file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Note {
    token: u64,
    /// The holder; 0 after it has released the lease.
    pid: u32,
    purpose: Option<Purpose>,
}

impl Note {
    /// Reads a note. A missing or unreadable note is that of a session without leases.
    fn read(path: &Path) -> Self {
        let bytes = disk::read_small(path, MAX_NOTE).unwrap_or_default();
        let text = str::from_utf8(&bytes).unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            // former versions noted only the process, which held the lock while it had the session open
            [pid] => Self { token: 0, pid: pid.parse().unwrap_or(0), purpose: Some(Purpose::Turn) },
            [token, pid, purpose] => Self {
                token: token.parse().unwrap_or(0),
                pid: pid.parse().unwrap_or(0),
                purpose: match *purpose {
                    "turn" => Some(Purpose::Turn),
                    "change" => Some(Purpose::Change),
                    _ => None,
                },
            },
            _ => Self::default(),
        }
    }

    fn holder(self) -> Option<u32> {
        (self.pid != 0).then_some(self.pid)
    }

    fn bytes(self) -> Vec<u8> {
        let purpose = match self.purpose {
            Some(Purpose::Turn) => "turn",
            Some(Purpose::Change) => "change",
            None => "free",
        };
        format!("{:020} {:010} {purpose:6}\n", self.token, self.pid).into_bytes()
    }
}

/// Returns whether a path still names this file.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(ours), Ok(theirs)) = (file.metadata(), fs_err::symlink_metadata(path)) else { return false };
    (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
}

fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let known = [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP, Errno::INVAL];
    error.kind() == io::ErrorKind::Unsupported
        || known.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_is_read_as_it_was_written_and_always_has_the_same_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note");
        for note in [
            Note { token: u64::MAX, pid: u32::MAX, purpose: Some(Purpose::Change) },
            Note { token: 1, pid: 2, purpose: Some(Purpose::Turn) },
            Note { token: 7, pid: 0, purpose: None },
        ] {
            assert_eq!(note.bytes().len(), 39);
            fs_err::write(&path, note.bytes()).unwrap();
            assert_eq!(Note::read(&path), note);
        }
        fs_err::write(&path, "4711\n").unwrap();
        assert_eq!(Note::read(&path), Note { token: 0, pid: 4711, purpose: Some(Purpose::Turn) });
    }
}
