//! The messages of a stored session.

use std::future::{Future, IntoFuture};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use fs_err::File;
use musher_rpc::{Line, LineSplitter, MAX_LINE_LIMIT};
use musher_store::{SessionId, Store};
use musher_wire::{Json, Message};

use super::record::{self, StoredRecord};
use super::{off_the_runtime, sessions_root};
use crate::error::Kind;
use crate::{Error, Result};

/// Reads the messages of a session on disk, without starting an agent.
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

/// A session on disk, not read yet. Await it, or call [`blocking`](Self::blocking).
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
    /// The first line: title, directory, owner. `None` if that line is damaged.
    pub start: Option<Json>,
    /// The records after it, in order.
    pub records: Vec<StoredRecord>,
    /// The number of lines that could not be read.
    pub damaged_lines: usize,
}

impl StoredConversation {
    /// Returns the messages, in order.
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
    /// Sets the directory of the stored sessions; `~/.factory/sessions` by default.
    pub fn sessions_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Reads the session, and blocks this thread meanwhile.
    pub fn blocking(self) -> Result<StoredConversation> {
        let Some(id) = SessionId::parse(&self.id) else {
            return Err(Error::invalid_input(format!("invalid session id `{}`", self.id)));
        };
        let root = sessions_root(self.folder.as_deref())?;
        let path = Store::in_folder(&root).find(&id).ok_or_else(|| {
            let missing = format!("no `{id}.jsonl` below `{}`", root.display());
            Error::because(Kind::SessionNotFound { session_id: self.id.clone() }, missing)
        })?;
        read(&path).map_err(|source| Error::because(Kind::Session, source))
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
