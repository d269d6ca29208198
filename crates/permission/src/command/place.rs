//! Where a command line has got to: the folders a command may run in, and what paths mean from there.

use std::path::{Path, PathBuf};

use crate::{FileKind, Risk, Workspace};

use super::word::Word;
use crate::Policy;
use crate::files::{self, Finding};

/// More than this many folders are too many to keep in mind.
const MOST_FOLDERS: usize = 8;

/// Where a command may run.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) policy: &'a Policy,
    pub(super) workspace: &'a Workspace,
    /// Every folder the shell may be in: a `cd` may have failed.
    folders: Vec<PathBuf>,
    /// Whether it may be in yet another one.
    is_lost: bool,
    /// Whether an earlier command may have made links that are not there yet.
    pub(super) has_new_files: bool,
}

impl<'a> Place<'a> {
    pub(super) fn new(policy: &'a Policy, workspace: &'a Workspace) -> Self {
        let folders = vec![workspace.root().to_owned()];
        Self { policy, workspace, folders, is_lost: false, has_new_files: false }
    }

    /// The shell may go to a folder.
    pub(super) fn go(&mut self, to: Option<&str>) {
        let Some(to) = to else {
            self.is_lost = true;
            return;
        };
        let reached: Vec<_> = self.folders.iter().map(|from| self.workspace.resolve(from.join(to))).collect();
        for resolved in reached {
            match resolved {
                // what is not there may be made by an earlier command, and not be a folder but a link to one
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
        self.is_lost |= self.folders.len() > MOST_FOLDERS;
    }

    /// Nobody knows where the shell goes.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Every path this may be.
    pub(super) fn paths(&self, path: &str) -> Option<Vec<PathBuf>> {
        if self.is_lost && !Path::new(path).is_absolute() {
            return None;
        }
        Some(self.folders.iter().map(|folder| folder.join(path)).collect())
    }

    /// The folders a command may run in, if they are known.
    pub(super) fn folders(&self) -> Option<&[PathBuf]> {
        (!self.is_lost).then_some(&self.folders)
    }

    /// What it means to write there.
    pub(super) fn write(&self, path: &str) -> Finding {
        let Some(paths) = self.paths(path) else { return Finding::of(Risk::High) };
        let found = paths.iter().map(|path| files::write(self.policy, self.workspace, path).0);
        let finding = found.fold(Finding::NOTHING, Finding::and);
        if self.has_new_files { finding.at_least(Risk::Medium) } else { finding }
    }

    /// What it means to remove or move what a word names, with all that is in it.
    pub(super) fn remove_word(&self, word: &Word) -> Finding {
        let Some(paths) = word.literal().and_then(|path| self.paths(path)) else {
            return Finding::of(Risk::High);
        };
        let found = paths.iter().map(|path| files::remove_folder(self.workspace, path));
        found.fold(self.write_word(word), Finding::and)
    }

    /// What it means to read there.
    pub(super) fn read(&self, path: &str, is_recursive: bool) -> Finding {
        let Some(paths) = self.paths(path) else { return Finding::of(Risk::Medium) };
        let found = paths.iter().map(|path| files::read(self.policy, self.workspace, path, is_recursive));
        let finding = found.fold(Finding::NOTHING, Finding::and);
        if self.has_new_files { finding.at_least(Risk::Medium) } else { finding }
    }

    /// What it means to read what a word names.
    pub(super) fn read_word(&self, word: &Word, is_recursive: bool) -> Finding {
        match word {
            Word::Literal(path) => self.read(path, is_recursive),
            Word::Pattern { .. } | Word::Unknown => Finding::of(Risk::Medium),
        }
    }

    /// What it means to write what a word names.
    pub(super) fn write_word(&self, word: &Word) -> Finding {
        word.literal().map_or(Finding::of(Risk::High), |path| self.write(path))
    }

    /// What is at a path, if all the paths it may be say the same.
    pub(super) fn kind(&self, path: &str) -> Option<FileKind> {
        let paths = self.paths(path)?;
        let mut kinds =
            paths.iter().map(|path| self.workspace.resolve(path).map(|resolved| resolved.kind).ok());
        let first = kinds.next()??;
        kinds.all(|kind| kind == Some(first)).then_some(first)
    }

    /// Whether a path is `/`, the home folder or the workspace, or a folder above one of these.
    pub(super) fn is_precious(&self, path: &str) -> bool {
        let Some(paths) = self.paths(path) else { return false };
        paths.iter().any(|path| {
            let Ok(resolved) = self.workspace.resolve(path) else { return false };
            let holds = |folder: &Path| !folder.as_os_str().is_empty() && folder.starts_with(&resolved.path);
            // what is right below the root belongs to the system
            let is_top = resolved.path.components().count() <= 2;
            is_top || holds(&self.policy.home) || self.workspace.roots().any(holds)
        })
    }
}
