//! Which folders have configuration: the user's, droid's as a fallback, and the repository's.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::file::is_absent;
use super::{Places, Problem};

/// A folder of configuration, such as `~/.musher` or `.factory` of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// Whose it is.
    pub level: Level,
}

impl Folder {
    /// Whether droid reads it, too.
    pub(super) fn is_of_droid(&self, places: &Places<'_>) -> bool {
        self.path.ends_with(".factory") || places.factory_home == Some(&self.path)
    }
}

/// Whose a setting is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// The user's.
    User,
    /// Of the folder the session works in, if that is not the root of the repository.
    Folder,
    /// The repository's.
    Project,
    /// Given for this run.
    Runtime,
}

impl Level {
    /// The word of the protocol for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Folder => "folder",
            Self::Project => "project",
            Self::Runtime => "runtime",
        }
    }

    /// Whether whoever wrote the repository wrote it.
    pub fn is_repository(self) -> bool {
        matches!(self, Self::Folder | Self::Project)
    }
}

/// The root of the repository, and the folders that are there, the one that counts most first.
///
/// A folder that cannot be looked at is a fatal problem: it may have restrictions in it.
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

    // by what they are, not by how they are written: links may lead to the same folder
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
        // a session in the home folder of the user has no repository there
        let is_users = users.contains(&Some(identity));
        if seen.contains(&identity) || (is_users && level != Level::User) {
            continue;
        }
        seen.push(identity);
        found.push(Folder { path, level });
    }
    (root, found)
}

/// Device and number of a folder; `None` if there is none.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = path.metadata().ok().filter(Metadata::is_dir)?;
    Some((metadata.dev(), metadata.ino()))
}

/// The nearest folder above (or the folder itself) with a `.git` in it; the folder itself if there is none.
pub(crate) fn root(cwd: &Path) -> PathBuf {
    let root = cwd.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(cwd).to_owned()
}
