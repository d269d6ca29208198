//! Files that may hold secrets: whether a path is one, and whether a recursive read would reach one.
//!
//! A walk mirrors the program that will read: what the program skips is skipped here, too. Looks at names only, never at contents.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;

use crate::files;
use crate::glob::matches_any;

/// The maximum number of entries that one walk visits. What a larger tree holds is unknown.
const MAX_ENTRIES: usize = 30_000;

/// Tells which files may hold secrets: credentials, settings of agents with keys, and environments of processes.
///
/// ```
/// use musher_permission::Policy;
///
/// let policy = Policy { home: "/home/u".into(), ..Policy::default() };
/// let secrets = policy.secret_files();
/// assert!(secrets.holds("/home/u/.ssh/id_ed25519".as_ref()) && secrets.holds("/repo/.env".as_ref()));
/// assert!(!secrets.holds("/repo/src/main.rs".as_ref()));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretFiles {
    pub(crate) home: PathBuf,
    pub(crate) settings_folders: Vec<PathBuf>,
}

impl SecretFiles {
    /// Returns whether a real path may hold a secret.
    pub fn holds(&self, path: &Path) -> bool {
        files::is_secret(&self.home, &self.settings_folders, path)
    }
}

/// The files that a recursive read covers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recursion {
    /// Hidden files are read.
    pub(crate) hidden: bool,
    /// Ignore files have an effect.
    pub(crate) obeys_ignore_files: bool,
    /// Links are followed.
    pub(crate) follows_links: bool,
    /// Globs in the form of ignore files, which take precedence.
    pub(crate) overrides: Vec<String>,
    /// Types of files, as ripgrep names them.
    pub(crate) types: Vec<String>,
    /// If not empty: only files with such a name.
    pub(crate) included: Vec<String>,
    /// Files and directories with such a name are skipped.
    pub(crate) excluded: Vec<String>,
}

impl Recursion {
    /// Everything below a directory.
    pub(crate) fn all() -> Self {
        Self { hidden: true, ..Self::default() }
    }
}

/// What a recursive read would reach.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Nothing,
    Secret(PathBuf),
    /// The tree is too large to tell.
    Unknown,
}

/// Returns the first secret that a recursive read of a directory reaches.
pub(crate) fn below(folder: &Path, recursion: &Recursion, secrets: &SecretFiles) -> Reach {
    let mut walk = WalkBuilder::new(folder);
    walk.standard_filters(recursion.obeys_ignore_files)
        .hidden(!recursion.hidden)
        .follow_links(recursion.follows_links)
        .sort_by_file_name(Ord::cmp);
    if recursion.obeys_ignore_files {
        walk.add_custom_ignore_filename(".rgignore");
    }
    let mut overrides = OverrideBuilder::new(folder);
    for glob in &recursion.overrides {
        if overrides.add(glob).is_err() {
            return Reach::Unknown;
        }
    }
    match overrides.build() {
        Ok(overrides) => drop(walk.overrides(overrides)),
        Err(_) => return Reach::Unknown,
    }
    if !recursion.types.is_empty() {
        let mut types = TypesBuilder::new();
        types.add_defaults();
        for kind in &recursion.types {
            types.select(kind);
        }
        match types.build() {
            Ok(types) => drop(walk.types(types)),
            Err(_) => return Reach::Unknown,
        }
    }
    let excluded = recursion.excluded.clone();
    walk.filter_entry(move |entry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !excluded.iter().any(|pattern| is_excluded(pattern, &name))
    });
    for (visited, entry) in walk.build().enumerate() {
        if visited > MAX_ENTRIES {
            return Reach::Unknown;
        }
        // the program cannot read it either
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_none_or(|kind| kind.is_dir()) {
            continue;
        }
        if entry.path_is_symlink() && !recursion.follows_links {
            continue;
        }
        let name = entry.file_name().to_string_lossy();
        if !recursion.included.is_empty() && !recursion.included.iter().any(|glob| matches_any(glob, &name)) {
            continue;
        }
        let real = if recursion.follows_links { fs_err::canonicalize(entry.path()).ok() } else { None };
        let real = real.unwrap_or_else(|| entry.path().to_owned());
        if secrets.holds(&real) {
            return Reach::Secret(real);
        }
    }
    Reach::Nothing
}

/// Returns whether a path is a link, or a directory with links. Too many entries count as links.
pub(crate) fn has_links(path: &Path) -> bool {
    let entries = WalkBuilder::new(path).standard_filters(false).build().enumerate();
    let is_link = |(visited, entry): (usize, Result<ignore::DirEntry, ignore::Error>)| {
        visited > MAX_ENTRIES || entry.is_ok_and(|entry| entry.path_is_symlink())
    };
    path.is_symlink() || entries.into_iter().any(is_link)
}

/// Returns whether a name is certainly excluded: patterns with brackets have details that are not mirrored here.
fn is_excluded(pattern: &str, name: &str) -> bool {
    !pattern.contains(['[', '\\', '/']) && matches_any(pattern, name)
}
