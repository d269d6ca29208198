//! Writes a file atomically: a new file beside it takes its place.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fchmod, mkdirat, openat, renameat, statat, unlinkat};
use uuid::Uuid;

use super::{FileKind, Resolved, open};

/// The mode of new files.
const NEW_FILE: Mode = Mode::from_raw_mode(0o644);
const NEW_FOLDER: Mode = Mode::from_raw_mode(0o755);

impl Resolved {
    /// Replaces the content. Creates missing directories; keeps the mode of an existing file.
    pub fn write(&self, content: &[u8]) -> io::Result<()> {
        let refused = |what: &str| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` is {what}", self.path.display()))
        };
        match self.kind {
            FileKind::File | FileKind::Missing => {}
            FileKind::Folder => return Err(refused("a directory")),
            FileKind::Special => return Err(refused("a pipe, socket or device")),
        }
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(refused("no file"));
        };
        let folder =
            if self.kind == FileKind::Missing { make_folders(parent)? } else { open::folder(parent)? };
        let mode = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                Mode::from_raw_mode(stat.st_mode & 0o7777)
            }
            // a file that appeared in the meantime is not what the user permitted
            Ok(_) => return Err(refused("not a file any more")),
            Err(_) => NEW_FILE,
        };
        let temporary = format!(".musher-{}.tmp", Uuid::new_v4());
        let written = write_new(&folder, &temporary, content, mode, self.kind == FileKind::File)
            .and_then(|()| Ok(renameat(&folder, &temporary, &folder, name)?));
        if written.is_err() {
            // it may not have been created
            unlinkat(&folder, &temporary, AtFlags::empty()).ok();
        }
        written
    }

    /// Creates the parent directories.
    pub fn make_folders(&self) -> io::Result<()> {
        match self.path.parent() {
            Some(parent) if self.kind == FileKind::Missing => make_folders(parent).map(drop),
            _ => Ok(()),
        }
    }

    /// Removes the file.
    pub fn remove(&self) -> io::Result<()> {
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no file to remove"));
        };
        Ok(unlinkat(open::folder(parent)?, name, AtFlags::empty())?)
    }
}

fn write_new(folder: impl AsFd, name: &str, content: &[u8], mode: Mode, keep_mode: bool) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, mode)?;
    if keep_mode {
        // the umask has reduced the mode that was given when opening
        fchmod(&file, mode)?;
    }
    let mut file = File::from(file);
    file.write_all(content)?;
    file.flush()
}

/// Opens a directory of which a prefix exists, and creates the rest.
fn make_folders(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let mut at = openat(CWD, "/", flags, Mode::empty())?;
    for component in path.components() {
        if let Component::Normal(name) = component {
            at = match openat(&at, name, flags, Mode::empty()) {
                Err(rustix::io::Errno::NOENT) => {
                    match mkdirat(&at, name, NEW_FOLDER) {
                        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    openat(&at, name, flags, Mode::empty())?
                }
                opened => opened?,
            };
        }
    }
    Ok(at)
}
