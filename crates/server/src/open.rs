//! What is open between client and agent: requests that wait for their answer, questions that wait for theirs.
//!
//! A plain table that the reading and the writing half share. Nothing waits while it is held.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use musher_wire::McpServerConfig;

/// The table, for both halves.
#[derive(Debug, Default)]
pub(crate) struct Open(Mutex<Table>);

/// See [`Open`].
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// By id; a client may use one id twice, and gets two answers.
    requests: HashMap<Arc<str>, Vec<Shape>>,
    questions: HashMap<String, Asked>,
}

/// What the answer to a request looks like, as far as the reply does not say it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// `{}`, or whatever the reply is.
    Plain,
    /// `{"success":true}`.
    Success,
    /// The client's MCP servers are repeated to it.
    WithServers(Vec<McpServerConfig>),
}

/// What was asked of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// May it run?
    Permission,
    /// Questions of the model.
    Questions,
}

impl Open {
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        // a table is whole after each of its methods, so a panic elsewhere does not spoil it
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    pub(crate) fn request(&mut self, id: Arc<str>, shape: Shape) {
        self.requests.entry(id).or_default().push(shape);
    }

    /// The request is about to be answered. `None` if it was answered already, or never made.
    pub(crate) fn answered(&mut self, id: &str) -> Option<Shape> {
        let shapes = self.requests.get_mut(id)?;
        let shape = shapes.remove(0);
        if shapes.is_empty() {
            self.requests.remove(id);
        }
        Some(shape)
    }

    /// The ids of all requests without an answer. They count as answered now.
    pub(crate) fn unanswered(&mut self) -> Vec<Arc<str>> {
        let requests = std::mem::take(&mut self.requests);
        requests.into_iter().flat_map(|(id, shapes)| vec![id; shapes.len()]).collect()
    }

    pub(crate) fn question(&mut self, id: String, asked: Asked) {
        self.questions.insert(id, asked);
    }

    /// The question is settled: the first answer counts, and none after it.
    pub(crate) fn settled(&mut self, id: &str) -> Option<Asked> {
        self.questions.remove(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_used_twice_is_answered_twice_and_not_more() {
        let mut table = Table::default();
        table.request("1".into(), Shape::Plain);
        table.request("1".into(), Shape::Success);
        assert_eq!(table.answered("1"), Some(Shape::Plain));
        assert_eq!(table.answered("1"), Some(Shape::Success));
        assert_eq!(table.answered("1"), None);
        table.request("2".into(), Shape::Plain);
        assert_eq!(table.unanswered(), ["2".into()]);
        assert_eq!(table.answered("2"), None);
    }

    #[test]
    fn only_the_first_answer_to_a_question_counts() {
        let mut table = Table::default();
        table.question("q".to_owned(), Asked::Permission);
        assert_eq!(table.settled("q"), Some(Asked::Permission));
        assert_eq!(table.settled("q"), None);
    }
}
