//! Deletes sessions with all their files.

use std::io;
use std::path::Path;

use super::error::{At, Result};
use super::lease::Purpose;
use super::{SessionId, Store};

impl Store {
    /// Deletes a session: its log first, so that whatever happens next there is no half of a session. Other files in the folder
    /// stay, and links are removed, not followed.
    ///
    /// Fails with [`StoreError::Locked`](super::StoreError::Locked) while a process writes the session.
    pub fn delete(&self, id: &SessionId) -> Result<()> {
        let paths = self.paths(id)?;
        let _lease = self.leases.take(id, paths.folder(), Purpose::Change)?;
        let log = paths.log();
        fs_err::remove_file(&log).at("remove", &log)?;
        let Ok(entries) = fs_err::read_dir(paths.folder()) else { return Ok(()) };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let ending = name.to_str().and_then(|name| name.strip_prefix(id.as_str())?.strip_prefix('.'));
            if ending.is_some_and(is_part) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// Returns whether a file or folder of a session has this ending after its id. The names of damaged logs, and of temporary files of
/// crashed writers, contain numbers.
fn is_part(ending: &str) -> bool {
    let known = ["jsonl", "settings.json", "settings.json.bak", "lock", "large", "snapshots"];
    known.contains(&ending) || matches!(ending.rsplit_once('.'), Some((_, "damaged" | "tmp")))
}

/// Removes a file or directory. Of a symbolic link, removes the link only.
fn remove(path: &Path) -> Result<()> {
    let is_folder = fs_err::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let removed = if is_folder { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.at("remove", path),
    }
}
