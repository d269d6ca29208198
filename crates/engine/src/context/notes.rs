//! `AGENTS.md`: notes for agents. Read from the repository root down to the working directory when a session starts,
//! and from each subdirectory when a path in it is first used.
//!
//! Links out of the repository are ignored: they would let a repository send any file of the user to a vendor.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::reminders::cut;

const NAME: &str = "AGENTS.md";
/// The maximum length of notes in bytes; longer files are cut, and the model can read the rest.
const MAX_NOTE: usize = 48 << 10;

/// A file of notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The file.
    pub path: PathBuf,
    /// Its content, or the beginning of it.
    pub text: String,
    /// Whether it is the user's own file, for all projects.
    pub is_personal: bool,
    /// Whether the content is cut.
    pub is_cut: bool,
}

/// Reads the notes for a session: the user's own first, then from the root down to the working directory.
///
/// `homes` are the folders that may have the user's own notes; the first one found is used.
pub(super) fn at_start(homes: &[&Path], root: &Path, cwd: &Path) -> Vec<Note> {
    let personal = homes.iter().find_map(|home| {
        let path = home.join(NAME);
        // the user's own file may be a link to anywhere
        let within = fs_err::canonicalize(&path).ok()?;
        read(&path, &within).map(|note| Note { is_personal: true, ..note })
    });
    let mut folders: Vec<&Path> = cwd.ancestors().take_while(|folder| folder.starts_with(root)).collect();
    folders.reverse();
    let real_root = fs_err::canonicalize(root).unwrap_or_else(|_gone| root.to_owned());
    let shared = folders.into_iter().filter_map(|folder| read(&folder.join(NAME), &real_root));
    personal.into_iter().chain(shared).collect()
}

/// Finds the notes of subdirectories, each once.
///
/// ```
/// use musher_engine::context::FolderNotes;
///
/// let mut notes = FolderNotes::new("/w".into());
/// let found = notes.candidates("/w/a/b/file.rs".as_ref());
/// assert_eq!(found, ["/w/a/AGENTS.md", "/w/a/b/AGENTS.md"].map(std::path::PathBuf::from));
/// assert!(notes.candidates("/w/a/other.rs".as_ref()).is_empty() && notes.candidates("/etc/x".as_ref()).is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct FolderNotes {
    cwd: PathBuf,
    asked: HashSet<PathBuf>,
}

/// The maximum number of remembered folders; no more notes are read then.
const MAX_FOLDERS: usize = 10_000;

impl FolderNotes {
    /// Creates the finder for a session in `cwd`, whose own notes are already in the context.
    pub fn new(cwd: PathBuf) -> Self {
        Self { cwd, asked: HashSet::new() }
    }

    /// Returns the files to look for when a path is used, the outermost first. Each is returned once per session.
    pub fn candidates(&mut self, touched: &Path) -> Vec<PathBuf> {
        let path = self.cwd.join(touched);
        if path.components().any(|part| part == Component::ParentDir) {
            return Vec::new();
        }
        let below = path
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(&self.cwd) && *folder != self.cwd);
        let mut folders: Vec<&Path> = below.collect();
        folders.reverse();
        let is_new =
            |folder: &&Path| self.asked.len() < MAX_FOLDERS && self.asked.insert((*folder).to_owned());
        folders.into_iter().filter(is_new).map(|folder| folder.join(NAME)).collect()
    }

    /// Returns the new notes when a path is used. Reads the disk only for directories that were not used before.
    pub fn read(&mut self, touched: &Path) -> Vec<Note> {
        let candidates = self.candidates(touched);
        if candidates.is_empty() {
            return Vec::new();
        }
        let within = fs_err::canonicalize(&self.cwd).unwrap_or_else(|_gone| self.cwd.clone());
        candidates.iter().filter_map(|path| read(path, &within)).collect()
    }
}

fn read(path: &Path, within: &Path) -> Option<Note> {
    // a pipe would block forever
    if !path.metadata().ok()?.is_file() || !fs_err::canonicalize(path).ok()?.starts_with(within) {
        return None;
    }
    let mut bytes = Vec::new();
    fs_err::File::open(path).ok()?.take(MAX_NOTE as u64 + 1).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    if text.trim().is_empty() {
        return None;
    }
    let is_cut = bytes.len() > MAX_NOTE;
    Some(Note { path: path.to_owned(), text: cut(&text, MAX_NOTE).to_owned(), is_personal: false, is_cut })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(notes: &[Note]) -> Vec<(String, bool)> {
        notes.iter().map(|note| (note.text.clone(), note.is_personal)).collect()
    }

    #[test]
    fn notes_come_from_the_user_and_from_the_root_down() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["home", "other", "repo/a/b"] {
            fs_err::create_dir_all(path(name)).unwrap();
        }
        for (name, text) in
            [("other", "own"), ("repo", "root"), ("repo/a/b", "here"), ("repo/a", " \n"), ("", "above")]
        {
            fs_err::write(path(name).join(NAME), text).unwrap();
        }
        let notes = at_start(&[&path("home"), &path("other")], &path("repo"), &path("repo/a/b"));
        let expected = [("own", true), ("root", false), ("here", false)];
        assert_eq!(names(&notes), expected.map(|(text, is_personal)| (text.to_owned(), is_personal)));
    }

    #[test]
    fn link_out_of_the_repository_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs_err::create_dir_all(path("repo/sub")).unwrap();
        fs_err::write(path("secret"), "key").unwrap();
        for name in ["repo", "repo/sub"] {
            fs_err::os::unix::fs::symlink(path("secret"), path(name).join(NAME)).unwrap();
        }
        assert_eq!(at_start(&[], &path("repo"), &path("repo")), []);
        assert_eq!(FolderNotes::new(path("repo")).read(&path("repo/sub/x")), []);
    }

    #[test]
    fn notes_of_a_subdirectory_are_returned_once_and_cut() {
        let folder = tempfile::tempdir().unwrap();
        let sub = folder.path().join("sub");
        fs_err::create_dir_all(&sub).unwrap();
        fs_err::write(sub.join(NAME), "é".repeat(MAX_NOTE)).unwrap();
        let mut notes = FolderNotes::new(folder.path().to_owned());
        assert_eq!(notes.read("top.rs".as_ref()), []);
        let found = notes.read("sub/x/y.rs".as_ref());
        assert!(found.len() == 1 && found[0].is_cut && found[0].text.len() <= MAX_NOTE);
        assert_eq!(notes.read(&sub.join("z.rs")), []);
    }
}
