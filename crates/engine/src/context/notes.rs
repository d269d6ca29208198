//! Instruction files: notes for agents. Read from the repository root down to the working directory when a session starts, and from each
//! subdirectory when a path in it is first used.
//!
//! `AGENTS.md` and `CLAUDE.md` are read in every directory. Files of other programs are read only where a directory has neither, because
//! projects keep copies of the same text for several programs. A file that is a link to another, has the same text, or only refers to it
//! counts once. Links out of the repository are ignored: they would let a repository send any file of the user to a vendor.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::reminders::cut;

/// The files that are read in every directory.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// The files of other programs, of which the first one is read if a directory has none of [`NAMES`].
const OTHER_NAMES: [&str; 4] =
    ["GEMINI.md", ".github/copilot-instructions.md", ".cursorrules", ".windsurfrules"];
/// The file with the user's own notes.
const PERSONAL_NAME: &str = "AGENTS.md";
/// The maximum length of a file in bytes; longer files are cut, and the model can read the rest.
const MAX_NOTE: usize = 48 << 10;
/// The maximum length of all files that are read together, in bytes.
const MAX_NOTES: usize = 96 << 10;

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
        let path = home.join(PERSONAL_NAME);
        // the user's own file may be a link to anywhere
        let within = fs_err::canonicalize(&path).ok()?;
        read(&path, &within).map(|note| Note { is_personal: true, ..note })
    });
    let mut folders: Vec<&Path> = cwd.ancestors().take_while(|folder| folder.starts_with(root)).collect();
    folders.reverse();
    let real_root = fs_err::canonicalize(root).unwrap_or_else(|_gone| root.to_owned());
    let shared = folders.into_iter().flat_map(|folder| of_folder(folder, &real_root));
    distinct(personal.into_iter().chain(shared))
}

/// Finds the notes of subdirectories, each once.
///
/// ```
/// use musher_engine::context::FolderNotes;
///
/// let mut notes = FolderNotes::new("/w".into());
/// let new = notes.new_folders("/w/a/b/file.rs".as_ref());
/// assert_eq!(new, ["/w/a", "/w/a/b"].map(std::path::PathBuf::from));
/// assert!(notes.new_folders("/w/a/other.rs".as_ref()).is_empty() && notes.new_folders("/etc/x".as_ref()).is_empty());
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

    /// Returns the folders to look into when a path is used, the outermost first. Each is returned once per session.
    pub fn new_folders(&mut self, touched: &Path) -> Vec<PathBuf> {
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
        folders.into_iter().filter(is_new).map(Path::to_owned).collect()
    }

    /// Returns the new notes when a path is used. Reads the disk only for directories that were not used before.
    pub fn read(&mut self, touched: &Path) -> Vec<Note> {
        let folders = self.new_folders(touched);
        if folders.is_empty() {
            return Vec::new();
        }
        let within = fs_err::canonicalize(&self.cwd).unwrap_or_else(|_gone| self.cwd.clone());
        distinct(folders.iter().flat_map(|folder| of_folder(folder, &within)))
    }
}

/// Returns the notes of one directory.
fn of_folder(folder: &Path, within: &Path) -> Vec<Note> {
    let note = |name: &&str| read(&folder.join(name), within);
    let notes: Vec<Note> = NAMES.iter().filter_map(note).collect();
    if notes.is_empty() { OTHER_NAMES.iter().find_map(note).into_iter().collect() } else { notes }
}

/// Leaves out notes that repeat an earlier one, and cuts what is too long together.
fn distinct(notes: impl Iterator<Item = Note>) -> Vec<Note> {
    let mut kept: Vec<Note> = Vec::new();
    let mut left = MAX_NOTES;
    for mut note in notes {
        let is_repeated = kept.iter().any(|known| known.text.trim() == note.text.trim());
        if is_repeated || refers_to_others(&note, &kept) || left == 0 {
            continue;
        }
        if note.text.len() > left {
            note.text.truncate(cut(&note.text, left).len());
            note.is_cut = true;
        }
        left -= note.text.len();
        kept.push(note);
    }
    kept
}

/// Returns whether a file consists of references such as `@AGENTS.md` to files that are known.
fn refers_to_others(note: &Note, known: &[Note]) -> bool {
    let folder = note.path.parent().unwrap_or(Path::new(""));
    let is_known = |line: &str| {
        let path = line.strip_prefix('@').map(|name| folder.join(name.trim_start_matches("./")));
        path.is_some_and(|path| known.iter().any(|known| known.path == path))
    };
    let mut lines = note.text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.all(is_known)
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
            fs_err::write(path(name).join(PERSONAL_NAME), text).unwrap();
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
            fs_err::os::unix::fs::symlink(path("secret"), path(name).join(PERSONAL_NAME)).unwrap();
        }
        assert_eq!(at_start(&[], &path("repo"), &path("repo")), []);
        assert_eq!(FolderNotes::new(path("repo")).read(&path("repo/sub/x")), []);
    }

    #[test]
    fn notes_of_a_subdirectory_are_returned_once_and_cut() {
        let folder = tempfile::tempdir().unwrap();
        let sub = folder.path().join("sub");
        fs_err::create_dir_all(&sub).unwrap();
        fs_err::write(sub.join(PERSONAL_NAME), "é".repeat(MAX_NOTE)).unwrap();
        let mut notes = FolderNotes::new(folder.path().to_owned());
        assert_eq!(notes.read("top.rs".as_ref()), []);
        let found = notes.read("sub/x/y.rs".as_ref());
        assert!(found.len() == 1 && found[0].is_cut && found[0].text.len() <= MAX_NOTE);
        assert_eq!(notes.read(&sub.join("z.rs")), []);
    }

    #[test]
    fn file_of_another_program_is_read_if_a_directory_has_no_common_one() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        };
        let read = || names(&at_start(&[], folder.path(), folder.path()));
        let texts = || read().into_iter().map(|(text, _)| text).collect::<Vec<_>>();
        write(".windsurfrules", "wind");
        write(".cursorrules", "cursor");
        assert_eq!(texts(), ["cursor"]);
        write(".github/copilot-instructions.md", "copilot");
        assert_eq!(texts(), ["copilot"]);
        write("GEMINI.md", "gemini");
        assert_eq!(texts(), ["gemini"]);
        write("CLAUDE.md", "claude");
        assert_eq!(texts(), ["claude"]);
        write("AGENTS.md", "agents");
        assert_eq!(texts(), ["agents", "claude"]);
    }

    #[test]
    fn link_copy_and_reference_to_a_known_file_are_left_out() {
        for claude in ["All tests pass.\n\n", "@AGENTS.md\n", "@./AGENTS.md"] {
            let folder = tempfile::tempdir().unwrap();
            fs_err::write(folder.path().join("AGENTS.md"), "All tests pass.\n").unwrap();
            fs_err::write(folder.path().join("CLAUDE.md"), claude).unwrap();
            assert_eq!(at_start(&[], folder.path(), folder.path()).len(), 1, "{claude}");
        }
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("AGENTS.md"), "All tests pass.\n").unwrap();
        fs_err::os::unix::fs::symlink("AGENTS.md", folder.path().join("CLAUDE.md")).unwrap();
        assert_eq!(at_start(&[], folder.path(), folder.path()).len(), 1);
        fs_err::remove_file(folder.path().join("CLAUDE.md")).unwrap();
        fs_err::write(folder.path().join("CLAUDE.md"), "@AGENTS.md\nAnd one more rule.").unwrap();
        assert_eq!(at_start(&[], folder.path(), folder.path()).len(), 2);
    }

    #[test]
    fn notes_are_bounded_together() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("a/b");
        fs_err::create_dir_all(&cwd).unwrap();
        for (index, place) in [folder.path(), &folder.path().join("a"), &cwd].into_iter().enumerate() {
            fs_err::write(place.join("AGENTS.md"), format!("{index}").repeat(40 << 10)).unwrap();
        }
        let notes = at_start(&[], folder.path(), &cwd);
        assert_eq!(notes.iter().map(|note| note.text.len()).sum::<usize>(), MAX_NOTES);
        assert_eq!(notes.iter().map(|note| note.is_cut).collect::<Vec<_>>(), [false, false, true]);
    }
}
