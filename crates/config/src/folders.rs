//! The configuration folders: the user's, droid's as a fallback, and the repository's.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::file::is_absent;
use super::{Places, Problem};

/// A configuration folder, such as `~/.musher` or `.factory` of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Its path.
    pub path: PathBuf,
    /// Its level.
    pub level: Level,
}

impl Folder {
    /// Returns whether droid also reads it.
    pub(super) fn is_of_droid(&self, places: &Places<'_>) -> bool {
        self.path.ends_with(".factory") || places.factory_home == Some(&self.path)
    }
}

/// The level of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// The user's.
    User,
    /// The working directory's, if that is not the root of the repository.
    Folder,
    /// The repository's.
    Project,
    /// Given for this run.
    Runtime,
}

impl Level {
    /// Returns the protocol's name of the level.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Folder => "folder",
            Self::Project => "project",
            Self::Runtime => "runtime",
        }
    }

    /// Returns whether it belongs to the repository, not to the user.
    pub fn is_repository(self) -> bool {
        matches!(self, Self::Folder | Self::Project)
    }
}

/// Returns the root of the repository, and the existing folders, the highest precedence first.
///
/// An unreadable folder is a fatal problem: it may contain restrictions.
pub(super) fn find(places: &Places<'_>, problems: &mut Vec<Problem>) -> (PathBuf, Vec<Folder>) {
    let root = root(places.cwd);
    let mut candidates = Vec::new();
    let mut repository = |base: &Path, level| {
        candidates.push((base.join(".musher"), level));
        candidates.push((base.join(".factory"), level));
    };
    repository(&root, Level::Project);
    if root != places.cwd {
        repository(places.cwd, Level::Folder);
    }
    candidates.push((places.home.to_owned(), Level::User));
    candidates.extend(places.factory_home.map(|path| (path.to_owned(), Level::User)));

    // compare by identity, not by path: links may lead to the same folder
    let users = [Some(places.home), places.factory_home].map(|path| path.and_then(identity));
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for (path, level) in candidates {
        let identity = match path.metadata() {
            Ok(metadata) if metadata.is_dir() => (metadata.dev(), metadata.ino()),
            Ok(_) => continue,
            Err(error) if is_absent(&error) => continue,
            Err(error) => {
                problems.push(Problem::new(&path, format!("cannot read the folder: {error}")).fatal());
                continue;
            }
        };
        // the user's home directory is not a repository
        let is_users = users.contains(&Some(identity));
        if seen.contains(&identity) || (is_users && level != Level::User) {
            continue;
        }
        seen.push(identity);
        found.push(Folder { path, level });
    }
    (root, found)
}

/// Returns device and inode of a folder; `None` if it does not exist.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = path.metadata().ok().filter(Metadata::is_dir)?;
    Some((metadata.dev(), metadata.ino()))
}

/// Returns the nearest ancestor (or the folder itself) that contains `.git`; the folder itself if there is none.
pub(crate) fn root(cwd: &Path) -> PathBuf {
    let root = cwd.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(cwd).to_owned()
}
