//! Opens resolved paths without following links and without waiting for a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use super::{FileKind, Resolved};

/// Opens the directory of a resolved path.
pub(super) fn folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::PATH_IF_THERE;
    Ok(without_links(path, flags)?)
}

/// Opens a resolved path in one system call where the kernel can guarantee that it follows no link.
#[cfg(target_os = "linux")]
fn without_links(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    use rustix::io::Errno;

    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, path, flags, Mode::empty(), resolve) {
        // older kernels do not have it, and some sandboxes forbid unknown system calls
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(path, flags),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn without_links(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    step_by_step(path, flags)
}

/// Opens one component after the other; none may be a link.
fn step_by_step(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let on_the_way = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::PATH_IF_THERE;
    let mut at = openat(CWD, "/", on_the_way, Mode::empty())?;
    let mut components =
        path.components().filter(|component| matches!(component, Component::Normal(_))).peekable();
    while let Some(component) = components.next() {
        let flags = if components.peek().is_some() { on_the_way } else { flags };
        at = openat(&at, component.as_os_str(), flags, Mode::empty())?;
    }
    Ok(at)
}

/// Flags that not every system has.
trait PathIfThere {
    /// Opens a directory without the right to list it, where the system supports that.
    const PATH_IF_THERE: OFlags;
}

impl PathIfThere for OFlags {
    #[cfg(target_os = "linux")]
    const PATH_IF_THERE: OFlags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    const PATH_IF_THERE: OFlags = OFlags::RDONLY;
}

impl Resolved {
    /// Opens the file for reading. Fails for anything but a regular file, also if it has just been replaced.
    pub fn open(&self) -> io::Result<File> {
        let refused = |what: &str| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` is {what}", self.path.display()))
        };
        match self.kind {
            FileKind::File => {}
            FileKind::Missing => {
                return Err(io::Error::new(
                    io::ErrorKind::NotFound,
                    format!("ENOENT: no such file or directory, open '{}'", self.path.display()),
                ));
            }
            FileKind::Folder => {
                return Err(io::Error::new(
                    io::ErrorKind::IsADirectory,
                    format!("`{}` is a directory, not a file", self.path.display()),
                ));
            }
            FileKind::Special => return Err(refused("a pipe, socket or device, not a file")),
        }
        // non-blocking: opening a pipe without a writer would wait forever
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = without_links(&self.path, flags)?;
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(refused("not a file any more"));
        }
        Ok(file.into())
    }

    /// Reads the whole content, if it is not larger than `max_bytes`.
    pub fn read(&self, max_bytes: u64) -> io::Result<Vec<u8>> {
        let file = self.open()?;
        let too_large = |size: u64| {
            let (size, max) = (size >> 20, max_bytes >> 20);
            io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("`{}` is too large: {size} MB, the maximum is {max} MB", self.path.display()),
            )
        };
        let size = file.metadata()?.len();
        if size > max_bytes {
            return Err(too_large(size));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // the file may grow while it is read, and files of /proc have size 0
        file.take(max_bytes + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_bytes {
            return Err(too_large(bytes.len() as u64));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn openat2_and_step_by_step_lookup_agree() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        fs_err::create_dir(root.join("sub")).unwrap();
        fs_err::write(root.join("sub/f"), "x").unwrap();
        symlink("sub", root.join("door")).unwrap();
        symlink("sub/f", root.join("link")).unwrap();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        for (path, is_open) in
            [("sub/f", true), ("sub", true), ("door/f", false), ("link", false), ("gone", false)]
        {
            let path = root.join(path);
            assert_eq!(without_links(&path, flags).is_ok(), is_open, "{}", path.display());
            assert_eq!(step_by_step(&path, flags).is_ok(), is_open, "{}", path.display());
        }
    }
}
