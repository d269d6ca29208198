//! Opens resolved paths without following a link, and never waits for a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use super::{FileKind, Resolved};

/// Opens the folder of a resolved path, one component after the other.
pub(super) fn folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::PATH_IF_THERE;
    let mut at = openat(CWD, "/", flags, Mode::empty())?;
    for component in path.components() {
        if let Component::Normal(name) = component {
            at = openat(&at, name, flags, Mode::empty())?;
        }
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
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(refused("no file"));
        };
        let parent = folder(parent)?;
        // non-blocking: a pipe nobody writes to would wait for ever
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&parent, name, flags, Mode::empty())?;
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(refused("not a file any more"));
        }
        Ok(file.into())
    }

    /// The whole content, if it is not larger than `most`.
    pub(crate) fn read(&self, most: u64) -> io::Result<Vec<u8>> {
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
