//! The environment of a session, read once when it starts: a few small reads, no program. `worktree` has what takes longer.

use std::path::{Path, PathBuf};

use super::{Git, Note, notes};

/// The environment of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The working directory.
    pub cwd: PathBuf,
    /// The root of the repository, or the working directory.
    pub root: PathBuf,
    /// Additional directories of the workspace.
    pub more_folders: Vec<PathBuf>,
    /// The operating system and the processor.
    pub platform: String,
    /// The current date.
    pub date: String,
    /// Whether no user is present who could answer.
    pub is_unattended: bool,
    /// The state of git; `None` outside of a repository.
    pub git: Option<Git>,
    /// The entries of the working directory, directories with a slash.
    pub entries: Vec<String>,
    /// The number of entries that are not listed.
    pub more_entries: usize,
    /// The notes for agents.
    pub notes: Vec<Note>,
}

/// The maximum number of listed names.
const MAX_NAMES: usize = 60;
/// The maximum number of counted entries.
const MAX_COUNTED: usize = 2_000;

impl Facts {
    /// Reads the facts of a working directory. `homes` are the folders with the user's own notes, the highest precedence first.
    pub fn read(cwd: &Path, root: &Path, homes: &[&Path]) -> Self {
        let (entries, more_entries) = entries(cwd);
        Self {
            cwd: cwd.to_owned(),
            root: root.to_owned(),
            more_folders: Vec::new(),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            date: jiff::Zoned::now().date().to_string(),
            is_unattended: false,
            git: Git::read(root),
            entries,
            more_entries,
            notes: notes::at_start(homes, root, cwd),
        }
    }

    /// Sets whether no user is present.
    #[must_use]
    pub fn unattended(mut self, is_unattended: bool) -> Self {
        self.is_unattended = is_unattended;
        self
    }

    /// Adds directories of the workspace, and the notes in them.
    #[must_use]
    pub fn with_folders(mut self, folders: &[PathBuf]) -> Self {
        for folder in folders {
            self.notes.extend(notes::at_start(&[], folder, folder));
            self.more_folders.push(folder.clone());
        }
        self
    }
}

fn entries(folder: &Path) -> (Vec<String>, usize) {
    // an unreadable folder is listed as empty; tools that use it report the error
    let Ok(found) = fs_err::read_dir(folder) else { return (Vec::new(), 0) };
    let names = found.take(MAX_COUNTED).filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_plain = !name.chars().any(char::is_control);
        (name != ".git" && is_plain).then(|| if is_folder { format!("{name}/") } else { name })
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    (names, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_listing_is_limited() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join(".git")).unwrap();
        fs_err::create_dir_all(folder.path().join("src")).unwrap();
        for number in 0..70 {
            fs_err::write(folder.path().join(format!("f{number:02}")), "").unwrap();
        }
        let facts = Facts::read(folder.path(), folder.path(), &[]);
        assert_eq!((facts.entries.len(), facts.more_entries), (MAX_NAMES, 11));
        assert_eq!(facts.entries[0], "f00");
        assert_eq!(facts.date.len(), 10);
        let nowhere = Facts::read("/no/such".as_ref(), "/no/such".as_ref(), &[]);
        assert_eq!(nowhere.entries, [""; 0]);
        fs_err::write(folder.path().join("AGENTS.md"), "be kind").unwrap();
        let more = nowhere.with_folders(&[folder.path().to_owned()]);
        assert_eq!((more.notes.len(), more.more_folders), (1, vec![folder.path().to_owned()]));
    }
}
