//! Opens resolved paths without following a link, and never waits for a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use super::{FileKind, Resolved};

/// Opens the folder of a resolved path.
pub(super) fn folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::PATH_IF_THERE;
    Ok(without_links(path, flags)?)
}

/// Opens a resolved path in one call where the kernel can promise that it follows no link.
#[cfg(target_os = "linux")]
fn without_links(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    use rustix::io::Errno;

    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, path, flags, Mode::empty(), resolve) {
        // older kernels do not know it, and some sandboxes forbid what they do not know
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(path, flags),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn without_links(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    step_by_step(path, flags)
}

/// Opens one component after the other, none of which may be a link.
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
    /// A handle that needs no right to list the folder, where there is such a thing.
    const PATH_IF_THERE: OFlags;
}

impl PathIfThere for OFlags {
    #[cfg(target_os = "linux")]
    const PATH_IF_THERE: OFlags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    const PATH_IF_THERE: OFlags = OFlags::RDONLY;
}

impl Resolved {
    /// Opens the file to be read. What is no regular file is refused, also if it has just become something else.
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
        // non-blocking: a pipe nobody writes to would wait for ever
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = without_links(&self.path, flags)?;
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(refused("not a file any more"));
        }
        Ok(file.into())
    }

    /// The whole content, if it is not larger than `most`.
    pub fn read(&self, most: u64) -> io::Result<Vec<u8>> {
        let file = self.open()?;
        let too_large = |size: u64| {
            let (size, most) = (size >> 20, most >> 20);
            io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("`{}` has {size} MB; at most {most} MB are read", self.path.display()),
            )
        };
        let size = file.metadata()?.len();
        if size > most {
            return Err(too_large(size));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // it may grow meanwhile, and files of /proc have no size
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
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
    fn one_call_and_many_steps_open_and_refuse_the_same() {
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
