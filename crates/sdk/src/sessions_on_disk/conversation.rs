//! The messages of a stored session.

use std::future::{Future, IntoFuture};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use musher_store::{Entry, SessionId, Store, StoreError};
use musher_wire::{Json, Message};
use serde_json::Value;

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

    fn add(&mut self, entry: Entry) {
        if let Entry::Start(start) = &entry
            && self.is_at_start()
        {
            self.start = Some(Json::from(Value::Object(start.clone())));
            return;
        }
        match record::of_entry(entry) {
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
        let entries = Store::in_folder(&root).entries(&id).map_err(|error| match error {
            StoreError::NotFound(_) => {
                let missing = format!("no session `{id}` below `{}`", root.display());
                Error::because(Kind::SessionNotFound { session_id: self.id.clone() }, missing)
            }
            error => Error::because(Kind::Session, error),
        })?;
        let mut conversation = StoredConversation { start: None, records: Vec::new(), damaged_lines: 0 };
        for entry in entries {
            conversation.add(entry.map_err(|source| Error::because(Kind::Session, source))?);
        }
        Ok(conversation)
    }
}

impl IntoFuture for ReadSession {
    type Output = Result<StoredConversation>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(off_the_runtime(|| self.blocking()))
    }
}
