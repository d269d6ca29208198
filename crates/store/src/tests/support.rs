//! Test support: a home directory with sessions.

use std::path::{Path, PathBuf};

use musher_message::Part;
use musher_message::ToolUse;
use serde_json::Map;

use crate::{Log, NewSession, Record, SessionId, Store};
use musher_message::{Content, Message, Role};

/// A temporary home directory.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(self.folder.path())
    }

    pub(crate) fn create(&self, id: &str) -> Log {
        self.store().create(new_session(id)).unwrap()
    }

    /// Creates a session with two turns, the second one with a tool call, and closes it.
    pub(crate) fn with_session(id: &str) -> Self {
        let home = Self::new();
        let mut log = home.create(id);
        for record in two_turns() {
            log.append(&record).unwrap();
        }
        home
    }

    pub(crate) fn log_file(&self, id: &str) -> PathBuf {
        self.store().find(&session_id(id)).unwrap()
    }
}

pub(crate) fn session_id(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}

pub(crate) fn new_session(id: &str) -> NewSession {
    NewSession {
        id: session_id(id),
        cwd: PathBuf::from("/workspace"),
        title: None,
        owner: None,
        host_id: None,
        parent: None,
        settings: Map::new(),
        extra: Map::new(),
    }
}

pub(crate) fn said(id: &str, role: Role, text: &str) -> Message {
    let mut message = Message::new(id, role, vec![Content::Text(text.to_owned())]);
    (message.created_at_ms, message.updated_at_ms) = (1_794_777_658_769, 1_794_777_658_769);
    message
}

pub(crate) fn after(parent: &str, message: Message) -> Message {
    Message { parent_id: Some(parent.to_owned()), ..message }
}

pub(crate) fn call(id: &str, tool_use_id: &str) -> Message {
    let call = ToolUse::new(tool_use_id, "LS", Map::new());
    Message { content: vec![Content::ToolUse(call)], ..said(id, Role::Assistant, "") }
}

pub(crate) fn result(id: &str, tool_use_id: &str, for_client: &str, for_model: &str) -> Message {
    let result = Content::ToolResult {
        tool_use_id: tool_use_id.to_owned(),
        for_client: vec![Part::Text(for_client.to_owned())],
        for_model: vec![Part::Text(for_model.to_owned())],
        is_error: false,
    };
    Message { content: vec![result], ..said(id, Role::Tool, "") }
}

pub(crate) fn record(message: Message) -> Record {
    Record::Message(Box::new(message))
}

pub(crate) fn outcome(turn_id: &str) -> Record {
    Record::TurnOutcome { turn_id: turn_id.to_owned(), reason: "completed".to_owned() }
}

pub(crate) fn two_turns() -> Vec<Record> {
    vec![
        record(said("user-one", Role::User, "Remember mango.")),
        record(after("user-one", said("answer-one", Role::Assistant, "Noted."))),
        outcome("user-one"),
        record(after("answer-one", said("user-second", Role::User, "List the files."))),
        record(after("user-second", call("calling", "t1"))),
        record(after("calling", result("results", "t1", "two files", "total 2\na\nb"))),
        record(after("results", said("ending", Role::Assistant, "There are two: ä and 🥭."))),
        outcome("user-second"),
    ]
}

/// Returns the messages among records.
pub(crate) fn messages(records: Vec<Record>) -> Vec<Message> {
    let messages = records.into_iter().filter_map(|record| match record {
        Record::Message(message) => Some(*message),
        _ => None,
    });
    messages.collect()
}
