//! The messages of a session and their log.
//!
//! Both change together: a message is in memory only after it is in the log.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::session::journal::{Journal, record};
use musher_message::Message;
use musher_store::{Compacted, Compaction, Log, Purpose, Record, StoreError, Stored};

/// The messages of a session, the log they are in, and the summary that replaces the first of them.
#[derive(Debug)]
pub(crate) struct Conversation {
    journal: Journal,
    messages: Vec<Arc<Message>>,
    compaction: Option<Compacted>,
    updated_at_ms: Option<i64>,
}

impl Conversation {
    pub(super) fn new(journal: Journal) -> Self {
        Self { journal, messages: Vec::new(), compaction: None, updated_at_ms: None }
    }

    /// Restores what was read from the log.
    pub(super) fn restore(
        &mut self,
        messages: Vec<Message>,
        compaction: Option<Compacted>,
        updated_at_ms: i64,
    ) {
        self.messages = messages.into_iter().map(Arc::new).collect();
        self.compaction = compaction;
        self.updated_at_ms = Some(updated_at_ms);
    }

    /// Appends a message to the log and to memory. A message with the id of the last one becomes part of it.
    pub(super) fn append(
        &mut self,
        mut message: Message,
        settings: impl FnOnce() -> Map<String, Value>,
    ) -> Result<Arc<Message>, StoreError> {
        // hooks may have run between two parts
        let last = self.messages.iter().rposition(|last| !last.is_hook_run());
        let part_of = last.filter(|last| self.messages.get(*last).is_some_and(|last| last.id == message.id));
        if part_of.is_none() {
            message.parent_id = self.messages.last().map(|last| last.id.clone());
        }
        self.journal.open(settings)?.append(&record(&message))?;
        self.updated_at_ms = Some(message.updated_at_ms);
        if let Some(last) = part_of.and_then(|last| self.messages.get_mut(last)) {
            let whole = Arc::make_mut(last);
            whole.content.append(&mut message.content);
            whole.updated_at_ms = message.updated_at_ms;
            // not a copy of all parts: with one for each result, an answer with many tool calls would take quadratic time
            return Ok(Arc::clone(last));
        }
        let message = Arc::new(message);
        self.messages.push(Arc::clone(&message));
        Ok(message)
    }

    /// Replaces the first `removed` messages by a summary, in the log and in memory.
    pub(super) fn compact(
        &mut self,
        summary: Compaction,
        removed: usize,
        settings: impl FnOnce() -> Map<String, Value>,
    ) -> Result<(), StoreError> {
        let log = self.journal.open(settings)?;
        log.append(&Record::Compaction(Box::new(summary.clone())))?;
        log.sync()?;
        self.compaction = Some(Compacted { summary, removed });
        Ok(())
    }

    /// Returns the log, created if needed with these settings.
    pub(super) fn log(
        &mut self,
        settings: impl FnOnce() -> Map<String, Value>,
    ) -> Result<&mut Log, StoreError> {
        self.journal.open(settings)
    }

    /// Returns whether this process owns the session, and may write its log.
    pub(crate) fn is_owned(&self) -> bool {
        self.journal.is_owned()
    }

    /// Returns whether the log has no file yet.
    pub(crate) fn is_new(&self) -> bool {
        self.journal.is_new()
    }

    /// Takes the lease of the session. Returns its content if others have written it since it was released.
    pub(super) fn acquire(&mut self, purpose: Purpose) -> Result<Option<Stored>, StoreError> {
        self.journal.acquire(purpose)
    }

    /// Releases the lease.
    pub(super) fn release(&mut self) {
        self.journal.release();
    }

    /// Continues with a log that was read again.
    pub(super) fn replace_log(&mut self, journal: Journal) {
        self.journal = journal;
    }

    /// Returns the path of the log, also if there is no file yet.
    pub(crate) fn log_path(&self) -> PathBuf {
        self.journal.path()
    }

    /// Appends a record if the log has a file.
    pub(super) fn note(&mut self, record: &Record) -> Result<(), StoreError> {
        self.journal.note(record)
    }

    /// Saves settings if the log has a file.
    pub(super) fn save_settings(&mut self, settings: Map<String, Value>) -> Result<(), StoreError> {
        self.journal.save_settings(settings)
    }

    /// Returns all messages, those replaced by a summary too.
    pub(crate) fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// Returns the id of the last message.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.messages.last().map(|message| message.id.as_str())
    }

    /// Returns when a message was appended last.
    pub(crate) fn updated_at_ms(&self) -> Option<i64> {
        self.updated_at_ms
    }

    /// Returns whether it has messages other than hook runs.
    pub(crate) fn has_begun(&self) -> bool {
        self.messages.iter().any(|message| !message.is_hook_run())
    }

    /// Returns what the model reads: the summary, if there is one, and the messages after it.
    pub(crate) fn visible(&self) -> (Option<&str>, &[Arc<Message>]) {
        match &self.compaction {
            None => (None, &self.messages),
            Some(compacted) => {
                let kept = self.messages.get(compacted.removed..).unwrap_or_default();
                (Some(&compacted.summary.summary), kept)
            }
        }
    }

    /// Returns the latest context message, if a summary has replaced it.
    pub(crate) fn lost_context(&self) -> Option<&Arc<Message>> {
        let removed = self.compaction.as_ref()?.removed;
        let (lost, kept) = self.messages.split_at_checked(removed)?;
        let is_context = |message: &&Arc<Message>| message.id.starts_with("context-");
        if kept.iter().any(|message| is_context(&message)) {
            return None;
        }
        lost.iter().rev().find(is_context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use musher_message::{Content, Role};
    use musher_store::{NewSession, SessionId, Store};

    fn conversation(home: &std::path::Path) -> Conversation {
        let new = NewSession {
            id: SessionId::random(),
            cwd: home.to_owned(),
            title: None,
            owner: None,
            host_id: None,
            parent: None,
            settings: Map::new(),
            extra: Map::new(),
        };
        Conversation::new(Journal::New(Store::open(home), Box::new(new)))
    }

    fn say(conversation: &mut Conversation, id: &str) -> Arc<Message> {
        let message = Message::new(id.to_owned(), Role::User, vec![Content::Text(id.to_owned())]);
        conversation.append(message, Map::new).unwrap()
    }

    #[test]
    fn parts_with_one_id_become_one_message_and_others_name_their_parent() {
        let home = tempfile::tempdir().unwrap();
        let mut conversation = conversation(home.path());
        assert!(conversation.is_new() && !conversation.has_begun());
        say(&mut conversation, "a");
        assert_eq!(say(&mut conversation, "a").content.len(), 2);
        assert_eq!(say(&mut conversation, "b").parent_id.as_deref(), Some("a"));
        assert!(conversation.is_owned() && conversation.has_begun());
        assert_eq!(conversation.messages().len(), 2);
        assert_eq!(conversation.last_id(), Some("b"));
    }

    #[test]
    fn summary_hides_the_first_messages_and_the_lost_context_is_found() {
        let home = tempfile::tempdir().unwrap();
        let mut conversation = conversation(home.path());
        for id in ["context-a", "a", "b"] {
            say(&mut conversation, id);
        }
        assert!(conversation.lost_context().is_none());
        let summary = Compaction { summary: "so far".to_owned(), ..Compaction::default() };
        conversation.compact(summary, 2, Map::new).unwrap();
        let (summary, kept) = conversation.visible();
        assert_eq!((summary, kept.len(), conversation.messages().len()), (Some("so far"), 1, 3));
        assert_eq!(conversation.lost_context().map(|message| message.id.as_str()), Some("context-a"));
    }
}
