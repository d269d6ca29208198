//! All calls that change files, behind a trait, so that tests can make each of them fail.
//!
//! Files are private from their creation, regardless of the umask, and symbolic links to them are not followed.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Take, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, fchmod, fstat, mkdirat, openat};

use super::error::{At, Result};

const PRIVATE: Mode = Mode::from_raw_mode(0o600);
const PRIVATE_FOLDER: Mode = Mode::from_raw_mode(0o700);
/// The permission bits, without set-uid, set-gid and sticky.
pub(super) const PERMISSIONS: u32 = 0o777;

/// The file operations of the store.
pub(crate) trait Disk: fmt::Debug + Send + Sync {
    /// Maximum length of a line of a log in bytes, without line end. Longer records get a file of their own.
    fn max_line(&self) -> usize {
        1024 * 1024
    }

    /// Writes once; may write less than all bytes.
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(file, bytes)?)
    }

    /// Waits until the content of a file or directory is on the storage medium.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// Truncates a file.
    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    /// Creates an empty private file, or truncates an existing one.
    fn create(&self, path: &Path) -> io::Result<File> {
        open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC, true)
    }

    /// Opens a private file for appending; creates it if necessary.
    fn append_to(&self, path: &Path) -> io::Result<File> {
        open(path, OFlags::RDWR | OFlags::CREATE | OFlags::APPEND, true)
    }

    /// Opens a lock file; creates it if necessary.
    fn open_lock(&self, path: &Path) -> io::Result<File> {
        open(path, OFlags::RDWR | OFlags::CREATE, true)
    }

    /// Writes the note of a lock file with one call, over the one before.
    fn write_note(&self, file: &File, note: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(file, note, 0)?;
        file.set_len(note.len() as u64)
    }

    /// Renames a file, replacing an existing one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs_err::rename(from, to)
    }
}

/// The real file system.
#[derive(Debug)]
pub(crate) struct RealDisk;

impl Disk for RealDisk {}

/// Opens a regular file. Rejects everything else: reading a pipe might never end.
fn open(path: &Path, flags: OFlags, make_private: bool) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = openat(CWD, path, flags, PRIVATE)?;
    let mode = fstat(&file)?.st_mode;
    if FileType::from_raw_mode(mode) != FileType::RegularFile {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    // the umask may have removed permissions of the user, and an existing file may be open to others
    if make_private && Mode::from_raw_mode(mode & PERMISSIONS) != PRIVATE {
        fchmod(&file, PRIVATE)?;
    }
    Ok(File::from(file))
}

/// Opens a file for reading.
pub(super) fn open_to_read(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDONLY, false)
}

/// Opens a file for reading, unless it is larger than `limit` bytes. Data appended later is not read.
pub(super) fn open_limited(path: &Path, limit: u64) -> io::Result<Take<File>> {
    let file = open_to_read(path)?;
    if file.metadata()?.len() > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes")));
    }
    Ok(file.take(limit))
}

/// Reads a file of at most `limit` bytes.
pub(super) fn read_small(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_limited(path, limit)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces a file of the user atomically, with its permissions. Ignores bits such as set-uid, which must never come from a journal.
pub(super) fn replace_user_file(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
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
        // fails if the temporary file was not created
        fs_err::remove_file(&temporary).ok();
    }
    written
}

/// Creates a private directory, and its missing parents.
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
        // the umask may have removed permissions of the user
        Ok(()) => rustix::fs::chmod(path, PRIVATE_FOLDER).map_err(io::Error::from),
        Err(rustix::io::Errno::EXIST) if path.is_dir() => Ok(()),
        Err(error) => Err(error.into()),
    }
    .at("create the directory", path)
}

/// Returns whether the path is a directory and not a link to one.
pub(super) fn is_own_folder(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Creates a private directory of a session. Rejects a symbolic link, because its target does not belong to the session.
pub(super) fn make_own_folder(path: &Path) -> Result<()> {
    make_folder(path)?;
    if is_own_folder(path) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::NotADirectory, "a symbolic link")).at("write to the directory", path)
}

/// Writes the content of a file.
pub(super) type Content<'a> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'a;

/// Size of the buffer of a file that is written in pieces, in bytes.
const WRITE_BUFFER: usize = 256 * 1024;

/// Writes to a file of the disk, and counts.
struct DiskWriter<'a> {
    disk: &'a dyn Disk,
    file: &'a File,
    length: u64,
}

impl Write for DiskWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.disk.write(self.file, bytes)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl dyn Disk + '_ {
    /// Writes all bytes, with several calls if necessary.
    pub(super) fn write_all(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
        DiskWriter { disk: self, file, length: 0 }.write_all(bytes)
    }

    /// Replaces a file atomically. With `is_synced`, the change survives power loss once this returns.
    pub(super) fn replace(&self, path: &Path, content: &[u8], is_synced: bool) -> Result<()> {
        self.put(path, content, is_synced)?;
        if is_synced { self.sync_folder_of(path) } else { Ok(()) }
    }

    /// Replaces a file atomically, but after power loss the old file may reappear.
    pub(super) fn put(&self, path: &Path, content: &[u8], is_synced: bool) -> Result<()> {
        self.put_with(path, is_synced, &mut |out| out.write_all(content)).map(drop)
    }

    /// Replaces a file atomically by what a function writes, like [`put`](Self::put). Returns its length.
    pub(super) fn put_with(&self, path: &Path, is_synced: bool, content: &mut Content<'_>) -> Result<u64> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.tmp", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let replaced = self.create(&temporary).and_then(|file| {
            let mut out =
                BufWriter::with_capacity(WRITE_BUFFER, DiskWriter { disk: self, file: &file, length: 0 });
            content(&mut out)?;
            out.flush()?;
            let length = out.get_ref().length;
            if is_synced {
                self.sync(&file)?;
            }
            self.rename(&temporary, path)?;
            Ok(length)
        });
        if replaced.is_err() {
            // fails if the temporary file was not created
            fs_err::remove_file(&temporary).ok();
        }
        replaced.at("write", path)
    }

    /// Waits until the directory of a file is on the storage medium.
    pub(super) fn sync_folder_of(&self, path: &Path) -> Result<()> {
        let Some(folder) = path.parent() else { return Ok(()) };
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = openat(CWD, folder, flags, Mode::empty()).map_err(io::Error::from);
        opened.and_then(|folder| self.sync(&File::from(folder))).at("sync", folder)
    }
}
