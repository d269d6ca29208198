//! What was said in a stored session.

use std::future::{Future, IntoFuture};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use fs_err::File;
use musher_rpc::{Line, LineSplitter, MAX_LINE_LIMIT};
use musher_wire::{Json, Message};

use super::folder::{all_folders, candidate};
use super::record::{self, StoredRecord};
use super::{off_the_runtime, sessions_root};
use crate::error::Kind;
use crate::{Error, Result};

/// The longest id of a session.
const LONGEST_ID: usize = 64;

/// Reads what was said in a session on disk. No agent is started.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let sessions_folder = folder.path();
/// # let said = r#"{"type":"session_start","title":"Fruit"}
/// # {"type":"message","id":"m","message":{"role":"user","content":[{"type":"text","text":"Remember mango."}]}}"#;
/// # std::fs::create_dir(folder.path().join("-workspace")).unwrap();
/// # std::fs::write(folder.path().join("-workspace/my-session.jsonl"), said).unwrap();
/// let stored = musher::read_session("my-session").sessions_dir(sessions_folder).await?;
/// for message in stored.messages() {
///     println!("{}: {}", message.role, message.text());
/// }
/// # assert_eq!((stored.messages().count(), stored.damaged_lines), (1, 0));
/// # Ok(()) }
/// ```
pub fn read_session(id: impl Into<String>) -> ReadSession {
    ReadSession { id: id.into(), folder: None }
}

/// A session on disk, not read yet. Await it, or have it [`blocking`](Self::blocking).
#[derive(Debug, Clone)]
#[must_use = "nothing is read before it is awaited"]
pub struct ReadSession {
    id: String,
    folder: Option<PathBuf>,
}

/// A conversation as it was stored.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredConversation {
    /// How it begins: title, directory, owner. Nothing if that line is damaged.
    pub start: Option<Json>,
    /// All that follows, in order.
    pub records: Vec<StoredRecord>,
    /// How many lines could not be read.
    pub damaged_lines: usize,
}

impl StoredConversation {
    /// The messages, in order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.records.iter().filter_map(|record| match record {
            StoredRecord::Message(message) => Some(&**message),
            _ => None,
        })
    }

    fn add(&mut self, line: Line<'_>) {
        let read = match line {
            Line::Whole(line) => record::read(&String::from_utf8_lossy(line)),
            Line::TooLong(_) => None,
        };
        match read {
            Some(StoredRecord::Other { kind, record }) if kind == "session_start" && self.is_at_start() => {
                self.start = Some(record);
            }
            Some(record) => self.records.push(record),
            None => self.damaged_lines += 1,
        }
    }

    fn is_at_start(&self) -> bool {
        self.start.is_none() && self.records.is_empty()
    }
}

impl ReadSession {
    /// Where sessions are kept; `~/.factory/sessions` if not set.
    pub fn sessions_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Reads the session on this thread.
    pub fn blocking(self) -> Result<StoredConversation> {
        // an id is data, and must not become a way to any other file
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if self.id.is_empty() || self.id.len() > LONGEST_ID || !self.id.bytes().all(is_plain) {
            return Err(Error::invalid_input(format!("`{}` is no id of a session", self.id)));
        }
        let root = sessions_root(self.folder.as_deref())?;
        let name = format!("{}.jsonl", self.id);
        let mut folders = all_folders(&root);
        folders.push(root);
        let found = folders.iter().filter_map(|folder| candidate(folder.join(&name), false));
        let newest = found.max_by_key(|candidate| candidate.modified).ok_or_else(|| {
            let missing = format!("no `{name}` below `{}`", folders[folders.len() - 1].display());
            Error::because(Kind::SessionNotFound { session_id: self.id.clone() }, missing)
        })?;
        read(&newest.path).map_err(|source| Error::because(Kind::Session, source))
    }
}

fn read(path: &Path) -> std::io::Result<StoredConversation> {
    let mut file = File::open(path)?;
    let mut splitter = LineSplitter::new(MAX_LINE_LIMIT);
    let mut buffer = vec![0; 64 * 1024];
    let mut conversation = StoredConversation { start: None, records: Vec::new(), damaged_lines: 0 };
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        splitter.push(&buffer[..length], |line| conversation.add(line));
    }
    splitter.finish(|line| conversation.add(line));
    Ok(conversation)
}

impl IntoFuture for ReadSession {
    type Output = Result<StoredConversation>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(off_the_runtime(|| self.blocking()))
    }
}
