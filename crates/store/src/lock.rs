//! Locks a log against a second writer. The kernel releases the lock when its holder ends, even after a crash.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use super::SessionId;
use super::disk::{self, Disk};
use super::error::{At, Result, StoreError};

/// The lock of a log. Dropping it releases the lock.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
    /// Whether other writers are locked out: some network file systems do not support locks.
    pub(super) is_exclusive: bool,
}

impl Lock {
    /// Takes the lock. Fails with the process that holds it.
    pub(super) fn take(disk: &dyn Disk, path: &Path, id: &SessionId) -> Result<Self> {
        let file = disk.append_to(path).at("open", path)?;
        match file.try_lock() {
            Ok(()) => {
                // only for messages that name the holder
                let note = format!("{}\n", std::process::id());
                file.set_len(0).and_then(|()| disk.write_all(&file, note.as_bytes())).ok();
                Ok(Self { _file: file, is_exclusive: true })
            }
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked { id: id.clone(), holder: holder(path) }),
            Err(TryLockError::Error(error)) if is_unsupported(&error) => {
                tracing::warn!(path = %path.display(), "the file system does not support locks");
                Ok(Self { _file: file, is_exclusive: false })
            }
            Err(TryLockError::Error(error)) => Err(error).at("lock", path),
        }
    }
}

fn holder(path: &Path) -> Option<u32> {
    let note = disk::read_small(path, 32).ok()?;
    str::from_utf8(&note).ok()?.trim().parse().ok()
}

fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let known = [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP, Errno::INVAL];
    error.kind() == io::ErrorKind::Unsupported
        || known.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
