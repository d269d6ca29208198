//! Resolves paths link by link, and opens files so that nothing can be swapped in between.
//!
//! [`Workspace::resolve`] returns where a path leads, so that the user can be asked about it. The resolved path is then opened without
//! following any link: replacing a directory by a link in the meantime causes an error.

mod credentials;
mod open;
mod resolve;
mod sensitive;
mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use resolve::{FileKind, Resolved};
pub use sensitive::{RUN_FROM_WORKSPACE, SHELL_STARTUP, Sensitive};

/// Where file tools may go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Access {
    /// Only inside the workspace.
    #[default]
    Workspace,
    /// Only at or below these real paths, to which the paths of the call led when it was judged. A link that appears later leads elsewhere.
    Only(Arc<[PathBuf]>),
    /// Anywhere: the user has permitted it.
    Anywhere,
}

impl Access {
    fn includes(&self, resolved: &Resolved) -> bool {
        match self {
            Self::Workspace => resolved.is_inside,
            Self::Only(judged) => judged.iter().any(|judged| resolved.path.starts_with(judged)),
            Self::Anywhere => true,
        }
    }
}

/// The working directory, by its real path, and additional directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    root: Root,
    more: Vec<Root>,
}

/// A directory of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    real: PathBuf,
    /// The path as it was given, which may contain links.
    given: PathBuf,
}

impl Root {
    fn open(folder: &Path) -> io::Result<Self> {
        if !folder.is_absolute() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the workspace's path must be absolute"));
        }
        let resolved = resolve::resolve(folder)?;
        if resolved.kind != FileKind::Folder {
            let reason = format!("`{}` is not a directory", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotADirectory, reason));
        }
        Ok(Self { real: resolved.path, given: folder.to_owned() })
    }
}

impl Workspace {
    /// Opens an existing directory.
    pub fn open(folder: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { root: Root::open(folder.as_ref())?, more: Vec::new() })
    }

    /// Adds an existing directory. Relative paths still start at the first one.
    pub fn with_folder(mut self, folder: impl AsRef<Path>) -> io::Result<Self> {
        self.more.push(Root::open(folder.as_ref())?);
        Ok(self)
    }

    /// Returns the real path of the working directory.
    pub fn root(&self) -> &Path {
        &self.root.real
    }

    /// Returns the real paths of all directories, the working directory first.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.folders().map(|folder| folder.real.as_path())
    }

    /// Returns whether a real path is at or below one of the directories.
    pub fn holds(&self, real: &Path) -> bool {
        self.roots().any(|root| real.starts_with(root))
    }

    /// Returns a real path of the workspace in terms of the directory as it was given; `None` if it is outside.
    pub fn as_given(&self, real: &Path) -> Option<PathBuf> {
        let below = |folder: &Root| Some(folder.given.join(real.strip_prefix(&folder.real).ok()?));
        self.folders().find_map(below)
    }

    fn folders(&self) -> impl Iterator<Item = &Root> {
        std::iter::once(&self.root).chain(&self.more)
    }

    /// Resolves a path. Relative paths start at the working directory.
    ///
    /// Links are followed also in the last component, and also if their target does not exist. Compares components, never text.
    pub fn resolve(&self, path: impl AsRef<Path>) -> io::Result<Resolved> {
        let mut resolved = resolve::resolve(&self.root().join(path.as_ref()))?;
        resolved.is_inside = self.holds(&resolved.path);
        Ok(resolved)
    }

    /// Resolves a path, and fails if `access` does not include it.
    pub fn reach(&self, path: impl AsRef<Path>, access: &Access) -> io::Result<Resolved> {
        let resolved = self.resolve(path.as_ref())?;
        if access.includes(&resolved) {
            return Ok(resolved);
        }
        let path = path.as_ref().display();
        let reason = match access {
            Access::Only(_) if resolved.is_inside => {
                format!(
                    "`{path}` leads to `{}` now, and did not when it was checked",
                    resolved.path.display()
                )
            }
            _ => format!("`{path}` is outside the workspace"),
        };
        Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
    }

    /// Returns whether a path leads to where `access` does not include it.
    pub fn leads_elsewhere(&self, path: impl AsRef<Path>, access: &Access) -> bool {
        self.resolve(path).is_ok_and(|resolved| !access.includes(&resolved))
    }

    /// Returns the path for display: relative if it is below the working directory.
    pub fn shown<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(self.root()).unwrap_or(path)
    }
}

#[cfg(test)]
mod tests;
