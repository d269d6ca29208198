//! A user's home with sessions of ours and of droid, and the program in it.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use musher_engine::store::{Loaded, NewSession, Record, Store};
use musher_engine::{Content, Message, Role, SessionId};
use serde_json::Map;

use crate::program::{Run, musher_with};

/// Three sessions: two of ours, one of droid's that is the oldest.
pub(crate) const FIRST: &str = "aaaa1111-0000-4000-8000-000000000001";
pub(crate) const SECOND: &str = "aaaa2222-0000-4000-8000-000000000002";
pub(crate) const DROIDS: &str = "dddd3333-0000-4000-8000-000000000003";

pub(crate) struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    pub(crate) fn new() -> Self {
        let home = Self::empty();
        home.add(".factory", DROIDS, "Droid's talk", &["Which fruit?", "A papaya."], 1);
        home.add(".musher", FIRST, "Fruit", &["Remember mango.", "Noted: MANGO."], 2);
        home.add(".musher", SECOND, "Parsers", &["Fix the parser.", "It is fixed."], 3);
        home
    }

    /// A session of which every second message is the agent's, last written on a day of January 2020.
    pub(crate) fn add(&self, home: &str, id: &str, title: &str, said: &[&str], day: u64) {
        let new = NewSession {
            id: session_id(id),
            cwd: self.work(),
            title: Some(title.to_owned()),
            owner: None,
            host_id: None,
            parent: None,
            settings: Map::new(),
            extra: Map::new(),
        };
        let store = Store::open(self.path().join(home));
        let mut log = store.create(new).unwrap();
        for (index, text) in said.iter().enumerate() {
            let role = if index % 2 == 0 { Role::User } else { Role::Assistant };
            let mut message =
                Message::new(format!("m{index}"), role, vec![Content::Text((*text).to_owned())]);
            message.parent_id = index.checked_sub(1).map(|before| format!("m{before}"));
            log.append(&Record::Message(Box::new(message))).unwrap();
        }
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800 + (day - 1) * 86_400);
        fs_err::OpenOptions::new()
            .append(true)
            .open(log.path())
            .unwrap()
            .into_parts()
            .0
            .set_modified(at)
            .unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path().canonicalize().unwrap().join("work")
    }

    /// The program in the directory of the sessions.
    pub(crate) fn musher(&self, arguments: &[&str]) -> Run {
        musher_with(arguments, |command| {
            command.env("HOME", self.path()).env("TZ", "UTC").current_dir(self.work());
        })
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(self.path().join(".musher"))
    }

    pub(crate) fn open(&self, id: &str) -> Loaded {
        self.store().load(&session_id(id)).unwrap()
    }

    /// Every file of droid's with its content, to see that nothing changes.
    pub(crate) fn droids_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files_below(&self.path().join(".factory"))
    }
}

/// Every file below a folder with its content.
pub(crate) fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.clone(), fs_err::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

pub(crate) fn session_id(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}

/// A run that succeeds and prints only this.
pub(crate) fn prints(stdout: impl Into<String>) -> Run {
    Run { code: Some(0), stdout: stdout.into(), stderr: String::new() }
}

/// A run that succeeds and writes only this to stderr.
pub(crate) fn notes(stderr: impl Into<String>) -> Run {
    Run { code: Some(0), stdout: String::new(), stderr: stderr.into() }
}

/// A run that fails with this error.
pub(crate) fn fails(code: i32, stderr: impl Into<String>) -> Run {
    Run { code: Some(code), stdout: String::new(), stderr: stderr.into() }
}
