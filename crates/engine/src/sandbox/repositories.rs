//! Where the data of repositories is: nested ones, and that of worktrees. Looks at files, a limited number of them.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// The maximum number of directories that are searched for nested repositories. A search takes some milliseconds.
const MAX_FOLDERS: usize = 4_000;
/// The maximum depth of nested repositories.
const MAX_DEPTH: usize = 8;
/// Directories with very many others, in which tools keep copies of what they can fetch again.
const LEFT_OUT: [&str; 3] = ["node_modules", "target", ".venv"];
/// The maximum size of a file that says where the data is.
const MAX_POINTER: u64 = 4096;

/// Returns `.git` of all repositories nested in these directories, the shallow ones first. Follows no links.
pub(super) fn nested(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting: VecDeque<(PathBuf, usize)> = folders.iter().map(|folder| (folder.clone(), 0)).collect();
    for _ in 0..MAX_FOLDERS {
        let Some((folder, depth)) = waiting.pop_front() else { return found };
        let Ok(entries) = fs_err::read_dir(&folder) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if name == ".git" {
                found.push(entry.path());
            } else if is_folder && depth < MAX_DEPTH && !LEFT_OUT.iter().any(|left_out| name == *left_out) {
                waiting.push_back((entry.path(), depth + 1));
            }
        }
    }
    tracing::debug!(max = MAX_FOLDERS, "not all directories were searched for nested repositories");
    found
}

/// Returns the directories with the data of a repository: `.git`, or for a worktree its own part of the data and the shared one.
///
/// A file `.git` names its data. That alone proves nothing, because it may name any repository: the data must name the file, too.
pub(super) fn data(git: &Path) -> Vec<PathBuf> {
    if git.is_dir() {
        return vec![git.to_owned()];
    }
    worktree(git).unwrap_or_default()
}

fn worktree(git: &Path) -> Option<Vec<PathBuf>> {
    let at = |base: &Path, text: &str| fs_err::canonicalize(base.join(text)).ok();
    let pointer = read(git)?;
    let own = at(git.parent()?, pointer.strip_prefix("gitdir: ")?.trim())?;
    if at(&own, read(&own.join("gitdir"))?.trim())? != git {
        return None;
    }
    let shared = at(&own, read(&own.join("commondir"))?.trim())?;
    // git keeps the data of a worktree in that of its repository
    (own.parent()? == shared.join("worktrees")).then(|| vec![own, shared])
}

fn read(file: &Path) -> Option<String> {
    let size = fs_err::symlink_metadata(file).ok().filter(std::fs::Metadata::is_file)?.len();
    (size <= MAX_POINTER).then(|| fs_err::read_to_string(file).ok()).flatten()
}
