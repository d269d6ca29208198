//! Takes a session away for good, with all that lies beside it.

use std::io;
use std::path::Path;

use super::error::{At, Result};
use super::lock::Lock;
use super::{SessionId, Store};

impl Store {
    /// Deletes a session: its log first, so that whatever happens next there is no half of a session.
    ///
    /// Fails with [`StoreError::Locked`](super::StoreError::Locked) while somebody writes it.
    pub fn delete(&self, id: &SessionId) -> Result<()> {
        let paths = self.paths(id)?;
        let _lock = Lock::take(&*self.disk, &paths.lock(), id)?;
        let log = paths.log();
        fs_err::remove_file(&log).at("remove", &log)?;
        // by their names: damaged logs and unfinished files of crashed writers carry names nobody remembers
        let prefix = format!("{id}.");
        let Ok(entries) = fs_err::read_dir(paths.folder()) else { return Ok(()) };
        for entry in entries.flatten() {
            if entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// A link is removed, not what it points to.
fn remove(path: &Path) -> Result<()> {
    let is_folder = fs_err::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let removed = if is_folder { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.at("remove", path),
    }
}
