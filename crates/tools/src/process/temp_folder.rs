//! The private directory for temporary files of sandboxed commands: the shared one may hold files that other programs trust.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

/// Created when it is first needed, removed when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct TempFolder {
    // locked while the directory is created, never across an await
    path: Mutex<Option<PathBuf>>,
}

impl TempFolder {
    /// Returns the directory, which is created below `base`. Blocks.
    pub(crate) fn path(&self, base: &Path) -> io::Result<PathBuf> {
        let mut known = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        // a command may have removed it
        if let Some(path) = known.as_ref().filter(|path| path.is_dir()) {
            return Ok(path.clone());
        }
        // short: paths of sockets are limited to about 100 bytes
        let name: String = Uuid::new_v4().simple().to_string().chars().take(16).collect();
        let path = base.join(format!("musher-{name}"));
        // fails if the name is taken, also by a link
        DirBuilder::new().mode(0o700).create(&path)?;
        *known = Some(path.clone());
        Ok(path)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let path = self.path.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(path) = path
            && let Err(error) = fs_err::remove_dir_all(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "cannot remove the temporary files of commands");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_private_created_once_and_removed() {
        use std::os::unix::fs::PermissionsExt;

        let base = tempfile::tempdir().unwrap();
        let folder = TempFolder::default();
        let path = folder.path(base.path()).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(folder.path(base.path()).unwrap(), path);
        fs_err::remove_dir(&path).unwrap();
        assert!(folder.path(base.path()).unwrap().is_dir(), "created again");
        drop(folder);
        assert_eq!(fs_err::read_dir(base.path()).unwrap().count(), 0);
    }
}
