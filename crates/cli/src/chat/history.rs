//! The prompts of earlier chats and the draft of this one, in the home of the program. A file that cannot be written costs the history,
//! never the chat.

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::{Value, json};

/// Maximum number of prompts that are kept in memory.
const MAX_PROMPTS: usize = 2000;
/// Longer prompts are not kept.
const MAX_LENGTH: usize = 20_000;
/// Maximum size of the file before old prompts are dropped.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// The prompts, oldest first, and the place of the one that is shown.
#[derive(Debug, Default)]
pub(crate) struct History {
    file: Option<PathBuf>,
    prompts: Vec<String>,
    /// Counted from the end: 0 is what is being typed.
    back: usize,
    /// What was being typed.
    draft: String,
}

impl History {
    /// Reads the file in this folder.
    pub(crate) fn open(folder: &Path) -> Self {
        let file = folder.join("history.jsonl");
        let mut prompts = Vec::new();
        if let Ok(reader) = fs::File::open(&file) {
            for line in std::io::BufReader::new(reader).lines().map_while(Result::ok) {
                let prompt = serde_json::from_str::<Value>(&line).ok();
                prompts.extend(prompt.and_then(|it| it["prompt"].as_str().map(str::to_owned)));
            }
        }
        let from = prompts.len().saturating_sub(MAX_PROMPTS);
        prompts.drain(..from);
        let history = Self { file: Some(file), prompts, back: 0, draft: String::new() };
        history.shorten();
        history
    }

    /// Adds a prompt.
    pub(crate) fn add(&mut self, prompt: &str) {
        self.back = 0;
        if prompt.trim().is_empty()
            || prompt.len() > MAX_LENGTH
            || self.prompts.last().is_some_and(|it| it == prompt)
        {
            return;
        }
        self.prompts.push(prompt.to_owned());
        if self.prompts.len() > MAX_PROMPTS {
            self.prompts.remove(0);
        }
        // one write, so that two chats do not mix their lines
        if let Some(file) = &self.file {
            let line = format!("{}\n", json!({ "prompt": prompt }));
            drop(
                private(fs::OpenOptions::new().create(true).append(true), file)
                    .and_then(|mut it| it.write_all(line.as_bytes())),
            );
        }
    }

    fn shorten(&self) {
        let Some(file) = &self.file else { return };
        if fs::metadata(file).is_ok_and(|metadata| metadata.len() > MAX_FILE) {
            let lines = self.prompts.iter().fold(String::new(), |lines, it| {
                lines
                    + &json!({ "prompt": it }).to_string()
                    + "
"
            });
            drop(replace(file, &lines));
        }
    }

    /// Returns the prompt before the one that is shown.
    pub(crate) fn previous(&mut self, typed: &str) -> Option<String> {
        if self.back == 0 {
            typed.clone_into(&mut self.draft);
        }
        let back = self.back + 1;
        let prompt = self.prompts.get(self.prompts.len().checked_sub(back)?)?;
        self.back = back;
        Some(prompt.clone())
    }

    /// Returns the prompt after the one that is shown, at last what was being typed.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.back = self.back.checked_sub(1)?;
        if self.back == 0 {
            return Some(std::mem::take(&mut self.draft));
        }
        self.prompts.get(self.prompts.len() - self.back).cloned()
    }

    /// Returns all prompts, newest first, each once.
    pub(crate) fn newest_first(&self) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        self.prompts.iter().rev().filter(|it| seen.insert(it.as_str())).cloned().collect()
    }
}

/// The draft of a directory: what was typed and not sent.
#[derive(Debug)]
pub(crate) struct Draft {
    file: PathBuf,
    saved: String,
}

impl Draft {
    /// Returns the draft of this directory.
    pub(crate) fn of(folder: &Path, cwd: &Path) -> Self {
        // the name of a file for the path, the same in every process
        let hash = cwd.to_string_lossy().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { file: folder.join("drafts").join(format!("{hash:016x}.txt")), saved: String::new() }
    }

    /// Reads the draft of an earlier chat.
    pub(crate) fn read(&mut self) -> Option<String> {
        self.saved = fs::read_to_string(&self.file).ok()?;
        (!self.saved.trim().is_empty()).then(|| self.saved.clone())
    }

    /// Returns whether the text is another one than that on disk.
    pub(crate) fn differs(&self, text: &str) -> bool {
        text != self.saved
    }

    /// Keeps the text, if it has changed.
    pub(crate) fn save(&mut self, text: &str) {
        if text == self.saved {
            return;
        }
        text.clone_into(&mut self.saved);
        if text.is_empty() {
            drop(fs::remove_file(&self.file));
        } else {
            drop(replace(&self.file, text));
        }
    }
}

/// Replaces a file as a whole.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.persist(file).map(drop).map_err(|error| error.error)
}

/// Opens a file that only its owner may read.
fn private(options: &mut fs::OpenOptions, file: &Path) -> std::io::Result<fs::File> {
    use fs_err::os::unix::fs::OpenOptionsExt as _;
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    options.mode(0o600).open(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_of_earlier_chats_come_back_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = History::open(folder.path());
        first.add("one");
        first.add("two\nlines");
        first.add("two\nlines");
        let mut second = History::open(folder.path());
        assert_eq!(second.previous("typed").as_deref(), Some("two\nlines"));
        assert_eq!(second.previous("").as_deref(), Some("one"));
        assert_eq!(second.previous(""), None);
        assert_eq!(second.next().as_deref(), Some("two\nlines"));
        assert_eq!(second.next().as_deref(), Some("typed"));
        assert_eq!(second.next(), None);
        assert_eq!(second.newest_first(), ["two\nlines", "one"]);
    }

    #[test]
    fn draft_belongs_to_a_directory_and_ends_when_it_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let here = || Draft::of(folder.path(), Path::new("/here"));
        here().save("half a tho");
        assert_eq!(here().read().as_deref(), Some("half a tho"));
        assert_eq!(Draft::of(folder.path(), Path::new("/there")).read(), None);
        let mut draft = here();
        draft.read();
        draft.save("");
        assert_eq!(here().read(), None);
    }

    #[test]
    fn folder_that_cannot_be_written_costs_only_the_history() {
        let mut history = History::open(Path::new("/proc/nowhere"));
        history.add("one");
        assert_eq!(history.previous("").as_deref(), Some("one"));
        Draft::of(Path::new("/proc/nowhere"), Path::new("/")).save("x");
    }
}
