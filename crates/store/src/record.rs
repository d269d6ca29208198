//! One line of a log as what it says, and back. Pure.
//!
//! The form is droid's. What is ours goes into an object `musher` that others pass over, and never into a part of a message,
//! which others may send to a vendor as it is.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::SessionId;
use super::message_form;
use musher_message::Message;

/// One record of a session, after the first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Record {
    /// A message. One with the id of an earlier one takes its place; results of tools are added to those that are there.
    Message(Box<Message>),
    /// A message that was accepted and waits for its turn. It is written again as a message when its turn comes.
    Queued(Box<Message>),
    /// A message that waited was thrown away.
    Discarded {
        /// Which.
        message_id: String,
    },
    /// A turn is over.
    TurnOutcome {
        /// Which: the id of the user's message.
        turn_id: String,
        /// How it ended, in the word of the wire.
        reason: String,
    },
    /// The list of things to do is now so.
    Todos {
        /// The list, as the tool keeps it.
        todos: Value,
        /// How many messages there were.
        message_index: u64,
    },
    /// What comes before is summed up.
    Compaction(Box<Compaction>),
    /// The title is now so. Written only where the first line cannot be replaced.
    Title {
        /// The title.
        title: String,
        /// Whether the user gave it.
        is_manual: bool,
    },
    /// Something else, as it is.
    Other(Map<String, Value>),
}

/// A summary of the beginning of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compaction {
    /// Its id.
    pub id: String,
    /// When it was made.
    pub at_ms: i64,
    /// The summary.
    pub summary: String,
    /// How many tokens it has.
    pub summary_tokens: u64,
    /// How many messages it stands for.
    pub removed: u64,
    /// The last message it stands for; all before the record if absent.
    pub last_removed: Option<String>,
    /// Other fields, such as what was known about the system.
    pub extra: Map<String, Value>,
}

/// The first line of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Start {
    fields: Map<String, Value>,
}

impl Start {
    /// The first line of a new session.
    pub(super) fn new(id: &SessionId, title: &str, owner: &str, cwd: &Path) -> Self {
        let mut start = Self::default();
        start.set("type", "session_start");
        start.set("id", id.as_str());
        start.set("title", title);
        start.set("owner", owner);
        start.set("version", 2);
        start.set("cwd", cwd.to_string_lossy().into_owned());
        start
    }

    /// The title.
    pub fn title(&self) -> &str {
        self.text("title").unwrap_or_default()
    }

    /// Whether the user gave the title.
    pub fn is_title_manual(&self) -> bool {
        self.fields.get("isSessionTitleManuallySet").and_then(Value::as_bool).unwrap_or_default()
    }

    /// Whose it is; `unknown` if nobody said.
    pub fn owner(&self) -> &str {
        self.text("owner").unwrap_or_default()
    }

    /// Where it works.
    pub fn cwd(&self) -> Option<PathBuf> {
        self.text("cwd").map(PathBuf::from)
    }

    /// The session it came from.
    pub fn parent(&self) -> Option<&str> {
        self.text("parent")
    }

    /// Any field of the line.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.fields.get(field)
    }

    fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Value::as_str)
    }

    pub(super) fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.fields.insert(field.to_owned(), value.into());
    }

    pub(super) fn remove(&mut self, field: &str) {
        self.fields.shift_remove(field);
    }

    /// What is said again in the settings, should this line be lost.
    pub(super) fn summary(&self) -> Value {
        serde_json::json!({"cwd": self.get("cwd"), "title": self.title()})
    }

    pub(super) fn into_fields(self) -> Map<String, Value> {
        self.fields
    }

    pub(super) fn line(&self) -> Vec<u8> {
        line(&Value::Object(self.fields.clone()))
    }
}

/// What a line turned out to be.
#[derive(Debug)]
pub(super) enum Line {
    Start(Start),
    Record(Record),
}

/// Reads a record; nothing if that is none.
pub(super) fn parse(value: Value) -> Option<Line> {
    let Value::Object(fields) = value else { return None };
    let kind = fields.get("type")?.as_str()?;
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    let record = match kind {
        "session_start" => return Some(Line::Start(Start { fields })),
        "message" => Record::Message(Box::new(message_form::read(fields)?)),
        "queued_message" => Record::Queued(Box::new(message_form::read(fields)?)),
        "queued_message_discarded" => Record::Discarded { message_id: text("messageId")? },
        "agent_turn_outcome" => Record::TurnOutcome { turn_id: text("turnId")?, reason: text("reason")? },
        "todo_state" => Record::Todos {
            todos: fields.get("todos")?.clone(),
            message_index: fields.get("messageIndex").and_then(Value::as_u64).unwrap_or_default(),
        },
        "compaction_state" => Record::Compaction(Box::new(compaction(fields)?)),
        "session_title" => Record::Title {
            title: text("title")?,
            is_manual: fields.get("isSessionTitleManuallySet").and_then(Value::as_bool).unwrap_or_default(),
        },
        _ => Record::Other(fields),
    };
    Some(Line::Record(record))
}

fn compaction(mut fields: Map<String, Value>) -> Option<Compaction> {
    let Value::String(summary) = fields.shift_remove("summaryText")? else { return None };
    let mut take = |key: &str| fields.shift_remove(key);
    take("type");
    take("summaryKind");
    let anchor = take("anchorMessage");
    Some(Compaction {
        summary,
        id: take("id").as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(),
        at_ms: take("timestamp").as_ref().and_then(Value::as_str).and_then(milliseconds).unwrap_or_default(),
        summary_tokens: take("summaryTokens").as_ref().and_then(Value::as_u64).unwrap_or_default(),
        removed: take("removedCount").as_ref().and_then(Value::as_u64).unwrap_or_default(),
        last_removed: anchor.and_then(|anchor| anchor["id"].as_str().map(str::to_owned)),
        extra: fields,
    })
}

impl Record {
    /// The record as JSON.
    pub(super) fn json(&self) -> Value {
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| {
            fields.insert(key.to_owned(), value);
        };
        match self {
            Self::Message(message) => return Value::Object(message_form::write(message)),
            Self::Queued(message) => {
                let mut fields = message_form::write(message);
                fields.insert("type".to_owned(), "queued_message".into());
                return Value::Object(fields);
            }
            Self::Discarded { message_id } => {
                put("type", "queued_message_discarded".into());
                put("messageId", message_id.clone().into());
            }
            Self::Other(fields) => return Value::Object(fields.clone()),
            Self::TurnOutcome { turn_id, reason } => {
                put("type", "agent_turn_outcome".into());
                put("turnId", turn_id.clone().into());
                put("reason", reason.clone().into());
                put("resultKind", "text".into());
            }
            Self::Todos { todos, message_index } => {
                put("type", "todo_state".into());
                put("id", uuid::Uuid::new_v4().to_string().into());
                put("timestamp", timestamp(Timestamp::now().as_millisecond()).into());
                put("todos", todos.clone());
                put("messageIndex", (*message_index).into());
            }
            Self::Compaction(compaction) => {
                put("type", "compaction_state".into());
                put("id", compaction.id.clone().into());
                put("timestamp", timestamp(compaction.at_ms).into());
                put("summaryText", compaction.summary.clone().into());
                put("summaryTokens", compaction.summary_tokens.into());
                put("summaryKind", "llm_summary".into());
                if let Some(id) = &compaction.last_removed {
                    let index = compaction.removed.saturating_sub(1);
                    put("anchorMessage", serde_json::json!({"id": id, "index": index}));
                }
                put("removedCount", compaction.removed.into());
                for (key, value) in &compaction.extra {
                    fields.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            Self::Title { title, is_manual } => {
                put("type", "session_title".into());
                put("title", title.clone().into());
                put("isSessionTitleManuallySet", (*is_manual).into());
            }
        }
        Value::Object(fields)
    }
}

/// A value as a line, with its end.
pub(super) fn line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// A moment as droid writes it.
pub(super) fn timestamp(milliseconds: i64) -> String {
    let moment = Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{moment:.3}")
}

/// Milliseconds since 1970 of a moment.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    Some(text.parse::<Timestamp>().ok()?.as_millisecond())
}

#[cfg(test)]
mod tests;
