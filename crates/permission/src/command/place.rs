//! Tracks the directories in which a command of a line may run, and resolves paths from there.

use std::path::{Path, PathBuf};

use crate::{FileKind, Risk, Workspace};

use super::word::Word;
use crate::Policy;
use crate::files::{self, Extent, Finding};
use crate::glob;
use crate::secrets;

/// Maximum number of directories that are tracked.
const MAX_DIRECTORIES: usize = 8;

/// Where a command may run.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) policy: &'a Policy,
    pub(super) workspace: &'a Workspace,
    /// Every directory that the shell may be in, because a `cd` may have failed.
    folders: Vec<PathBuf>,
    /// Whether the shell may be in another, unknown directory.
    is_lost: bool,
    /// Whether an earlier command may have created links that do not exist yet.
    pub(super) has_new_files: bool,
    /// Whether an earlier command may have put links in place that lead out: a write goes anywhere then.
    pub(super) has_new_links: bool,
    /// Whether an earlier command may have created or replaced a file.
    pub(super) has_written: bool,
}

impl<'a> Place<'a> {
    pub(super) fn new(policy: &'a Policy, workspace: &'a Workspace) -> Self {
        let folders = vec![workspace.root().to_owned()];
        Self {
            policy,
            workspace,
            folders,
            is_lost: false,
            has_new_files: false,
            has_new_links: false,
            has_written: false,
        }
    }

    /// Records that the shell may change to a directory.
    pub(super) fn go(&mut self, to: Option<&str>) {
        let Some(to) = to else {
            self.is_lost = true;
            return;
        };
        let reached: Vec<_> = self.folders.iter().map(|from| self.workspace.resolve(from.join(to))).collect();
        for resolved in reached {
            match resolved {
                // a missing path may be created by an earlier command, as a link instead of a directory
                Ok(resolved) if resolved.kind == FileKind::Missing && self.has_new_files => {
                    self.is_lost = true;
                }
                Ok(resolved) if matches!(resolved.kind, FileKind::Folder | FileKind::Missing) => {
                    if !self.folders.contains(&resolved.path) {
                        self.folders.push(resolved.path);
                    }
                }
                _ => self.is_lost = true,
            }
        }
        self.is_lost |= self.folders.len() > MAX_DIRECTORIES;
    }

    /// Records that the directory of the shell is unknown.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Returns every path that `path` may stand for.
    pub(super) fn paths(&self, path: &str) -> Option<Vec<PathBuf>> {
        if self.is_lost && !Path::new(path).is_absolute() {
            return None;
        }
        Some(self.folders.iter().map(|folder| folder.join(path)).collect())
    }

    /// Returns the directories that a command may run in, if they are known.
    pub(super) fn folders(&self) -> Option<&[PathBuf]> {
        (!self.is_lost).then_some(&self.folders)
    }

    /// Returns the effect of writing to a path.
    pub(super) fn write(&self, path: &str) -> Finding {
        let Some(paths) = self.paths(path) else { return Finding::of(Risk::High) };
        let found = paths.iter().map(|path| files::write(self.policy, self.workspace, path).0);
        let finding = found.fold(Finding::NOTHING, Finding::and);
        if self.has_new_links && finding != Finding::NOTHING {
            return finding.at_least(Risk::High);
        }
        if self.has_new_files { finding.at_least(Risk::Medium) } else { finding }
    }

    /// Returns whether moving or copying what a word names may put a link in another place.
    pub(super) fn may_be_link(&self, word: &Word) -> bool {
        let Some(paths) = word.literal().and_then(|path| self.paths(path)) else { return true };
        paths.iter().any(|path| secrets::has_links(path))
    }

    /// Returns the effect of removing or moving what a word names, with all its content.
    pub(super) fn remove_word(&self, word: &Word) -> Finding {
        let Some(paths) = word.literal().and_then(|path| self.paths(path)) else {
            return Finding::of(Risk::High);
        };
        let found = paths.iter().map(|path| files::remove_folder(self.workspace, path));
        found.fold(self.write_word(word), Finding::and)
    }

    /// Returns the effect of reading a path.
    pub(super) fn read(&self, path: &str, extent: Extent<'_>) -> Finding {
        let Some(paths) = self.paths(path) else { return Finding::of(Risk::Medium) };
        let found = paths.iter().map(|path| files::read(self.policy, self.workspace, path, extent));
        let finding = found.fold(Finding::NOTHING, Finding::and);
        if self.has_new_files { finding.at_least(Risk::Medium) } else { finding }
    }

    /// Returns the effect of reading what a word names.
    pub(super) fn read_word(&self, word: &Word, extent: Extent<'_>) -> Finding {
        match word {
            Word::Literal(path) => self.read(path, extent),
            Word::Pattern { text, .. } => self.read_pattern(text, extent).at_least(Risk::Medium),
            Word::Unknown => Finding::of(Risk::Medium),
        }
    }

    /// Returns the effect of reading every file that a pattern stands for.
    fn read_pattern(&self, pattern: &str, extent: Extent<'_>) -> Finding {
        let mut found = Finding::NOTHING;
        for folder in self.folders().unwrap_or_default() {
            let Some(paths) = glob::expand(folder, pattern) else {
                return Finding::ask("It reads more files than can be checked for credentials.");
            };
            for path in paths {
                found = found.and(files::read(self.policy, self.workspace, &path, extent));
                if found.always_ask.is_some() {
                    return found;
                }
            }
        }
        found
    }

    /// Returns the effect of naming a path to a program of unknown behaviour.
    pub(super) fn named(&self, path: &str) -> Finding {
        let paths = self.paths(path).unwrap_or_default();
        let found = paths.iter().map(|path| files::named(self.policy, self.workspace, path));
        found.fold(Finding::NOTHING, Finding::and)
    }

    /// Returns the same for each file that a pattern stands for.
    pub(super) fn named_pattern(&self, pattern: &str) -> Finding {
        let found = self.read_pattern(pattern, Extent::File);
        Finding { risk: Risk::None, always_ask: found.always_ask }
    }

    /// Returns the effect of writing what a word names.
    pub(super) fn write_word(&self, word: &Word) -> Finding {
        word.literal().map_or(Finding::of(Risk::High), |path| self.write(path))
    }

    /// Returns the kind of file at a path, if all candidates agree.
    pub(super) fn kind(&self, path: &str) -> Option<FileKind> {
        let paths = self.paths(path)?;
        let mut kinds =
            paths.iter().map(|path| self.workspace.resolve(path).map(|resolved| resolved.kind).ok());
        let first = kinds.next()??;
        kinds.all(|kind| kind == Some(first)).then_some(first)
    }

    /// Returns whether a path is the home directory or one above it.
    pub(super) fn is_home(&self, path: &str) -> bool {
        let home = &self.policy.home;
        let paths = self.paths(path).unwrap_or_default();
        !home.as_os_str().is_empty()
            && paths.iter().any(|path| {
                self.workspace.resolve(path).is_ok_and(|resolved| home.starts_with(&resolved.path))
            })
    }

    /// Returns whether a path is `/`, the home directory or the workspace, or a directory above one of these.
    pub(super) fn is_precious(&self, path: &str) -> bool {
        let Some(paths) = self.paths(path) else { return false };
        paths.iter().any(|path| {
            let Ok(resolved) = self.workspace.resolve(path) else { return false };
            let holds = |folder: &Path| !folder.as_os_str().is_empty() && folder.starts_with(&resolved.path);
            // directories right below the root belong to the system
            let is_top = resolved.path.components().count() <= 2;
            is_top || holds(&self.policy.home) || self.workspace.roots().any(holds)
        })
    }
}
