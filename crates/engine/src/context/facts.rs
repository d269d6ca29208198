//! Looks at the surroundings of a session, once, at its beginning: a handful of small reads and no program.

use std::path::{Path, PathBuf};

use super::{Git, Note, notes};

/// The surroundings of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Where it works.
    pub cwd: PathBuf,
    /// The root of the repository, or the same.
    pub root: PathBuf,
    /// Further folders that belong to the workspace.
    pub more_folders: Vec<PathBuf>,
    /// System and processor.
    pub platform: String,
    /// The day it is.
    pub date: String,
    /// What version control says; `None` if there is none.
    pub git: Option<Git>,
    /// What lies in the folder, sub-folders with a slash.
    pub entries: Vec<String>,
    /// How much more lies there.
    pub more_entries: usize,
    /// The notes for agents.
    pub notes: Vec<Note>,
}

/// More names than this only cost.
const NAMES: usize = 60;
/// A folder with more than this is not even counted to the end.
const COUNTED: usize = 2_000;

impl Facts {
    /// Looks at a working folder. `homes` are the folders with the user's own notes, the one that counts most first.
    pub fn read(cwd: &Path, root: &Path, homes: &[&Path]) -> Self {
        let (entries, more_entries) = entries(cwd);
        Self {
            cwd: cwd.to_owned(),
            root: root.to_owned(),
            more_folders: Vec::new(),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            date: jiff::Zoned::now().date().to_string(),
            git: Git::read(root),
            entries,
            more_entries,
            notes: notes::at_start(homes, root, cwd),
        }
    }

    /// With further folders of the workspace, and the notes in them.
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
    // a folder that cannot be read has nothing to show; whoever works in it will be told why
    let Ok(found) = fs_err::read_dir(folder) else { return (Vec::new(), 0) };
    let names = found.take(COUNTED).filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_plain = !name.chars().any(char::is_control);
        (name != ".git" && is_plain).then(|| if is_folder { format!("{name}/") } else { name })
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    (names, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_looked_at_once_and_shortly() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join(".git")).unwrap();
        fs_err::create_dir_all(folder.path().join("src")).unwrap();
        for number in 0..70 {
            fs_err::write(folder.path().join(format!("f{number:02}")), "").unwrap();
        }
        let facts = Facts::read(folder.path(), folder.path(), &[]);
        assert_eq!((facts.entries.len(), facts.more_entries), (NAMES, 11));
        assert_eq!(facts.entries[0], "f00");
        assert_eq!(facts.date.len(), 10);
        let nowhere = Facts::read("/no/such".as_ref(), "/no/such".as_ref(), &[]);
        assert_eq!(nowhere.entries, [""; 0]);
        fs_err::write(folder.path().join("AGENTS.md"), "be kind").unwrap();
        let more = nowhere.with_folders(&[folder.path().to_owned()]);
        assert_eq!((more.notes.len(), more.more_folders), (1, vec![folder.path().to_owned()]));
    }
}
