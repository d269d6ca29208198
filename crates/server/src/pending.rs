//! Pending requests of the client and pending questions of the agent.
//!
//! A plain table that the reading and the writing half share. Nothing waits while it is locked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use musher_wire::{EditorCapabilities, McpServerConfig};

use crate::editor::EditorRequests;

/// The table, shared by both halves.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    table: Mutex<Table>,
    /// Requests to the client's editor, if this connection can carry them.
    pub(crate) editor: Option<Arc<EditorRequests>>,
}

/// See [`Pending`].
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// By id. A client may use an id twice, and gets two responses.
    requests: HashMap<Arc<str>, Vec<ReplyShape>>,
    questions: HashMap<String, QuestionKind>,
}

/// The shape of the result, as far as the reply does not determine it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReplyShape {
    /// `{}`, or the converted reply.
    Plain,
    /// `{"success":true}`.
    Success,
    /// A session was opened: repeats the client's MCP servers and editor capabilities.
    Opened {
        servers: Option<Vec<McpServerConfig>>,
        /// The capabilities of the client's editor that are used.
        editor: Option<EditorCapabilities>,
    },
}

/// The kind of a question to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QuestionKind {
    /// A permission request.
    Permission,
    /// Questions of the agent (`AskUser`).
    Questions,
}

impl Pending {
    /// Returns an empty table for a connection that can reach the client's editor.
    pub(crate) fn with_editor(editor: Arc<EditorRequests>) -> Self {
        Self { editor: Some(editor), ..Self::default() }
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        // every method leaves the table consistent, so a panic elsewhere does not spoil it
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    pub(crate) fn add_request(&mut self, id: Arc<str>, shape: ReplyShape) {
        self.requests.entry(id).or_default().push(shape);
    }

    /// Removes a request that is about to get its response. `None` if it already has one, or does not exist.
    pub(crate) fn take_request(&mut self, id: &str) -> Option<ReplyShape> {
        let shapes = self.requests.get_mut(id)?;
        let shape = shapes.remove(0);
        if shapes.is_empty() {
            self.requests.remove(id);
        }
        Some(shape)
    }

    /// Removes all requests without a response and returns their ids.
    pub(crate) fn take_unanswered(&mut self) -> Vec<Arc<str>> {
        let requests = std::mem::take(&mut self.requests);
        requests.into_iter().flat_map(|(id, shapes)| vec![id; shapes.len()]).collect()
    }

    pub(crate) fn add_question(&mut self, id: String, asked: QuestionKind) {
        self.questions.insert(id, asked);
    }

    /// Removes a question: its first answer counts, later ones do not.
    pub(crate) fn take_question(&mut self, id: &str) -> Option<QuestionKind> {
        self.questions.remove(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_used_twice_gets_two_responses() {
        let mut table = Table::default();
        table.add_request("1".into(), ReplyShape::Plain);
        table.add_request("1".into(), ReplyShape::Success);
        assert_eq!(table.take_request("1"), Some(ReplyShape::Plain));
        assert_eq!(table.take_request("1"), Some(ReplyShape::Success));
        assert_eq!(table.take_request("1"), None);
        table.add_request("2".into(), ReplyShape::Plain);
        assert_eq!(table.take_unanswered(), ["2".into()]);
        assert_eq!(table.take_request("2"), None);
    }

    #[test]
    fn question_is_settled_by_its_first_answer() {
        let mut table = Table::default();
        table.add_question("q".to_owned(), QuestionKind::Permission);
        assert_eq!(table.take_question("q"), Some(QuestionKind::Permission));
        assert_eq!(table.take_question("q"), None);
    }
}
