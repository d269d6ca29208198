//! Every call that changes something on disk, so that tests can make each of them fail.
//!
//! Files are private from the moment they exist, whatever the umask, and no link is followed to them.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Take};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, fchmod, fstat, mkdirat, openat};

use super::error::{At, Result};

const PRIVATE: Mode = Mode::from_raw_mode(0o600);
const PRIVATE_FOLDER: Mode = Mode::from_raw_mode(0o700);
/// Who may read, write and execute. Set-uid, set-gid and sticky are not among them.
pub(super) const PERMISSIONS: u32 = 0o777;

/// The calls.
pub(crate) trait Disk: fmt::Debug + Send + Sync {
    /// The longest line of a log, without its end. What is longer is put aside.
    fn longest_line(&self) -> usize {
        1024 * 1024
    }

    /// One write, which may be short.
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(file, bytes)?)
    }

    /// The content is on the medium. For folders, too.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// Cuts a file.
    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    /// An empty private file, also where one was.
    fn create(&self, path: &Path) -> io::Result<File> {
        open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC, true)
    }

    /// A private file to add to, which may be new.
    fn append_to(&self, path: &Path) -> io::Result<File> {
        open(path, OFlags::RDWR | OFlags::CREATE | OFlags::APPEND, true)
    }

    /// A file takes the place of another.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs_err::rename(from, to)
    }
}

/// The disk there is.
#[derive(Debug)]
pub(crate) struct RealDisk;

impl Disk for RealDisk {}

/// Opens a plain file. What is no plain file is refused: a pipe would never end.
fn open(path: &Path, flags: OFlags, make_private: bool) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = openat(CWD, path, flags, PRIVATE)?;
    let mode = fstat(&file)?.st_mode;
    if FileType::from_raw_mode(mode) != FileType::RegularFile {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
    }
    // the umask may have taken our own rights, and an old file may give rights to others
    if make_private && Mode::from_raw_mode(mode & PERMISSIONS) != PRIVATE {
        fchmod(&file, PRIVATE)?;
    }
    Ok(File::from(file))
}

/// Opens a file to read it.
pub(super) fn open_to_read(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDONLY, false)
}

/// Opens a file to read it, unless it is larger than `most`. What is added meanwhile is not read.
pub(super) fn open_limited(path: &Path, most: u64) -> io::Result<Take<File>> {
    let file = open_to_read(path)?;
    if file.metadata()?.len() > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {most} bytes")));
    }
    Ok(file.take(most))
}

/// The content of a file that may not be larger than `most`.
pub(super) fn read_small(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_limited(path, most)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Puts a file of the user in its place, with its permissions: whole or not at all. Bits such as set-uid are left out: a file gets them
/// from the user, never from what a journal says.
pub(super) fn write_beside(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    use std::io::Write as _;

    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let temporary = path.with_file_name(format!(".{name:.100}.{}.tmp", uuid::Uuid::new_v4()));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let written = openat(CWD, &temporary, flags, PRIVATE).map_err(io::Error::from).and_then(|file| {
        let mut file = File::from(file);
        file.write_all(content)?;
        fchmod(&file, Mode::from_raw_mode(mode & PERMISSIONS))?;
        fs_err::rename(&temporary, path)
    });
    if written.is_err() {
        // it may not have come to exist
        fs_err::remove_file(&temporary).ok();
    }
    written
}

/// Makes a private folder, and those above it that are missing.
pub(super) fn make_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent()
        && !parent.as_os_str().is_empty()
    {
        make_folder(parent)?;
    }
    match mkdirat(CWD, path, PRIVATE_FOLDER) {
        // the umask may have taken our own rights
        Ok(()) => rustix::fs::chmod(path, PRIVATE_FOLDER).map_err(io::Error::from),
        Err(rustix::io::Errno::EXIST) if path.is_dir() => Ok(()),
        Err(error) => Err(error.into()),
    }
    .at("make the folder", path)
}

/// Whether there is a folder, and not a link to one.
pub(super) fn is_own_folder(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Makes a private folder of a session. A link is refused: what is written or removed behind it is not ours.
pub(super) fn make_own_folder(path: &Path) -> Result<()> {
    make_folder(path)?;
    if is_own_folder(path) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::NotADirectory, "it is a link")).at("write to the folder", path)
}

impl dyn Disk + '_ {
    /// Writes all of it, in as many writes as it takes.
    pub(super) fn write_all(&self, file: &File, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write(file, bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Puts a file there whole or not at all. `is_synced` says whether it has to outlast a power cut before this returns.
    pub(super) fn replace(&self, path: &Path, content: &[u8], is_synced: bool) -> Result<()> {
        self.put(path, content, is_synced)?;
        if is_synced { self.sync_folder_of(path) } else { Ok(()) }
    }

    /// The same, but after a power cut the old file may be there again.
    pub(super) fn put(&self, path: &Path, content: &[u8], is_synced: bool) -> Result<()> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.tmp", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let replaced = self.create(&temporary).and_then(|file| {
            self.write_all(&file, content)?;
            if is_synced {
                self.sync(&file)?;
            }
            self.rename(&temporary, path)
        });
        if replaced.is_err() {
            // it may not have come to exist
            fs_err::remove_file(&temporary).ok();
        }
        replaced.at("write", path)
    }

    /// The names in the folder of a file are on the medium.
    pub(super) fn sync_folder_of(&self, path: &Path) -> Result<()> {
        let Some(folder) = path.parent() else { return Ok(()) };
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = openat(CWD, folder, flags, Mode::empty()).map_err(io::Error::from);
        opened.and_then(|folder| self.sync(&File::from(folder))).at("sync", folder)
    }
}
