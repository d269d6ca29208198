//! Paths as they really are: every link followed by hand, and files opened so that nothing can be swapped in between.
//!
//! [`Workspace::resolve`] tells where a path leads, so that consent can be asked for. What is then opened is the resolved path,
//! without following any link on the way: whoever changes a folder into a link meanwhile gets an error, not a way out.

mod open;
mod resolve;
mod sensitive;
mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use resolve::{FileKind, Resolved};
pub use sensitive::Sensitive;

/// Where file tools may go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Access {
    /// Below the workspace only.
    #[default]
    Workspace,
    /// Below the workspace, and at or below these real paths: those somebody was shown and has agreed to.
    Also(Arc<[PathBuf]>),
    /// Wherever the path leads: somebody has agreed to it.
    Anywhere,
}

/// A folder to work in, by its real path, and further ones that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    root: Root,
    more: Vec<Root>,
}

/// A folder of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    real: PathBuf,
    /// As it was named, which may be by a link.
    given: PathBuf,
}

impl Root {
    fn open(folder: &Path) -> io::Result<Self> {
        if !folder.is_absolute() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the workspace's path must be absolute"));
        }
        let resolved = resolve::resolve(folder)?;
        if resolved.kind != FileKind::Folder {
            let reason = format!("`{}` is not a folder", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotADirectory, reason));
        }
        Ok(Self { real: resolved.path, given: folder.to_owned() })
    }
}

impl Workspace {
    /// A folder that is there.
    pub fn open(folder: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { root: Root::open(folder.as_ref())?, more: Vec::new() })
    }

    /// With one more folder, which has to be there. Relative paths still begin at the first.
    pub fn with_folder(mut self, folder: impl AsRef<Path>) -> io::Result<Self> {
        self.more.push(Root::open(folder.as_ref())?);
        Ok(self)
    }

    /// Its real path.
    pub fn root(&self) -> &Path {
        &self.root.real
    }

    /// The real paths of all its folders, the first one first.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.folders().map(|folder| folder.real.as_path())
    }

    /// Whether a real path is at or below one of its folders.
    pub fn holds(&self, real: &Path) -> bool {
        self.roots().any(|root| real.starts_with(root))
    }

    /// A real path of the workspace by the name its folder was given with; `None` if it is outside.
    pub fn as_given(&self, real: &Path) -> Option<PathBuf> {
        let below = |folder: &Root| Some(folder.given.join(real.strip_prefix(&folder.real).ok()?));
        self.folders().find_map(below)
    }

    fn folders(&self) -> impl Iterator<Item = &Root> {
        std::iter::once(&self.root).chain(&self.more)
    }

    /// Where a path leads. Relative paths begin at the workspace.
    ///
    /// Links are followed also at the end, and also when what they lead to does not exist. Compares components, never text.
    pub fn resolve(&self, path: impl AsRef<Path>) -> io::Result<Resolved> {
        let mut resolved = resolve::resolve(&self.root().join(path.as_ref()))?;
        resolved.is_inside = self.holds(&resolved.path);
        Ok(resolved)
    }

    /// Where a path leads, if one may go there.
    pub fn reach(&self, path: impl AsRef<Path>, access: &Access) -> io::Result<Resolved> {
        let resolved = self.resolve(path.as_ref())?;
        let is_allowed = match access {
            Access::Workspace => resolved.is_inside,
            Access::Also(agreed) => {
                resolved.is_inside || agreed.iter().any(|agreed| resolved.path.starts_with(agreed))
            }
            Access::Anywhere => true,
        };
        if !is_allowed {
            let reason = format!("`{}` is outside the workspace", path.as_ref().display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        Ok(resolved)
    }

    /// The path as people write it: from the workspace if it is below it.
    pub fn shown<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(self.root()).unwrap_or(path)
    }
}

#[cfg(test)]
mod tests;
