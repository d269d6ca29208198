//! Resolves a path link by link, also if its target does not exist yet.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

/// The limit of the kernel.
const MAX_LINKS: usize = 40;

/// A resolved path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resolved {
    /// The real path, without links and without `..`.
    pub path: PathBuf,
    /// The kind of file at the path.
    pub kind: FileKind,
    /// Whether the path is inside the workspace.
    pub is_inside: bool,
    /// Whether the file has other names, which may be outside.
    pub is_hard_linked: bool,
}

impl Resolved {
    /// Describes a file that was just found below a resolved directory, by a walk that follows no link.
    pub fn found(path: &Path) -> Self {
        Self { path: path.to_owned(), kind: FileKind::File, is_inside: true, is_hard_linked: false }
    }
}

/// The kind of file at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Folder,
    /// Nothing.
    Missing,
    /// A pipe, socket or device: not readable or writable here.
    Special,
}

/// Resolves an absolute path.
pub(super) fn resolve(path: &Path) -> io::Result<Resolved> {
    let mut ahead: VecDeque<OsString> = VecDeque::new();
    put_ahead(&mut ahead, path);
    let mut real = PathBuf::from("/");
    let mut kind = FileKind::Folder;
    let mut is_hard_linked = false;
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        if name == ".." {
            // a missing directory has no parent
            if kind == FileKind::Missing {
                return Err(not_found(path));
            }
            real.pop();
            kind = FileKind::Folder;
            continue;
        }
        if kind == FileKind::Missing {
            real.push(name);
            continue;
        }
        if kind != FileKind::Folder {
            return Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                format!("`{}` is not a directory", real.display()),
            ));
        }
        real.push(&name);
        match fs_err::symlink_metadata(&real) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => kind = FileKind::Missing,
            Err(error) => return Err(error),
            Ok(metadata) if metadata.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(io::Error::other(format!(
                        "`{}` goes through too many links",
                        path.display()
                    )));
                }
                let target = fs_err::read_link(&real)?;
                real.pop();
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                put_ahead(&mut ahead, &target);
                kind = FileKind::Folder;
            }
            Ok(metadata) => {
                let file_type = metadata.file_type();
                is_hard_linked = file_type.is_file() && metadata.nlink() > 1;
                kind = if file_type.is_dir() {
                    FileKind::Folder
                } else if file_type.is_file() {
                    FileKind::File
                } else {
                    debug_assert!(
                        file_type.is_fifo()
                            || file_type.is_socket()
                            || file_type.is_char_device()
                            || file_type.is_block_device()
                    );
                    FileKind::Special
                };
            }
        }
    }
    Ok(Resolved {
        path: real,
        kind,
        is_inside: false,
        is_hard_linked: is_hard_linked && kind == FileKind::File,
    })
}

fn put_ahead(ahead: &mut VecDeque<OsString>, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::Normal(name) => ahead.push_front(name.to_owned()),
            Component::ParentDir => ahead.push_front("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
}

fn not_found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("`{}` does not exist", path.display()))
}
