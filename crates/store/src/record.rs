//! Conversion between lines of a log and typed records. Pure.
//!
//! The form is droid's. Fields of musher are in an object `musher`, which other programs ignore, and never in a part of a message,
//! which other programs may send to a vendor unchanged.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::SessionId;
use super::message_form;
use musher_message::Message;

/// The object with fields of musher, and its field with the time of creation.
const OWN: &str = "musher";
const CREATED: &str = "createdAt";

/// A record of a session after the first line.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Record {
    /// A message. It replaces an earlier message with the same id; tool results are added to the existing ones.
    Message(Box<Message>),
    /// A queued message. It is written again as `Message` when it is processed.
    Queued(Box<Message>),
    /// A queued message was discarded.
    Discarded {
        /// Id of the message.
        message_id: String,
    },
    /// A turn ended.
    TurnOutcome {
        /// Id of the turn: the id of the user message.
        turn_id: String,
        /// Why the turn ended, as on the wire.
        reason: String,
    },
    /// The to-do list changed.
    Todos {
        /// The new list, in the form of the tool.
        todos: Value,
        /// Number of messages at that time.
        message_index: u64,
    },
    /// The earlier messages were compacted.
    Compaction(Box<Compaction>),
    /// The title changed. Written only if the first line cannot be replaced.
    Title {
        /// The new title.
        title: String,
        /// Whether the user gave the title.
        is_manual: bool,
    },
    /// A record of an unknown type, preserved.
    Other(Map<String, Value>),
}

/// A compaction: a summary that replaces the beginning of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compaction {
    /// Id of the summary.
    pub id: String,
    /// Creation time, in milliseconds since 1970.
    pub at_ms: i64,
    /// Text of the summary.
    pub summary: String,
    /// Number of tokens of the summary.
    pub summary_tokens: u64,
    /// Number of messages that the summary replaces.
    pub removed: u64,
    /// Id of the last message that the summary replaces; absent means all before the record.
    pub last_removed: Option<String>,
    /// Other fields, such as information about the system.
    pub extra: Map<String, Value>,
}

/// The first line of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Start {
    fields: Map<String, Value>,
}

impl Start {
    /// Creates the first line of a new session.
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

    /// Returns the title.
    pub fn title(&self) -> &str {
        self.text("title").unwrap_or_default()
    }

    /// Returns whether the user gave the title.
    pub fn is_title_manual(&self) -> bool {
        self.fields.get("isSessionTitleManuallySet").and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns the owner; `unknown` if the session was created without one.
    pub fn owner(&self) -> &str {
        self.text("owner").unwrap_or_default()
    }

    /// Returns the working directory.
    pub fn cwd(&self) -> Option<PathBuf> {
        self.text("cwd").map(PathBuf::from)
    }

    /// Returns the id of the session that this one was forked or compacted from.
    pub fn parent(&self) -> Option<&str> {
        self.text("parent")
    }

    /// Returns the time of creation, which is noted when the file is replaced.
    pub(super) fn created(&self) -> Option<SystemTime> {
        let noted = self.fields.get(OWN)?.get(CREATED)?.as_str()?;
        noted.parse::<Timestamp>().ok().map(SystemTime::from)
    }

    /// Notes the time of creation.
    pub(super) fn set_created(&mut self, at: SystemTime) {
        let Ok(at) = Timestamp::try_from(at) else { return };
        let own = self.fields.entry(OWN).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(own) = own {
            own.insert(CREATED.to_owned(), at.to_string().into());
        }
    }

    /// Forgets the time of creation, for a copy.
    pub(super) fn forget_created(&mut self) {
        if let Some(Value::Object(own)) = self.fields.get_mut(OWN) {
            own.shift_remove(CREATED);
        }
    }

    /// Returns any field of the line.
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

    /// Returns the fields that are repeated in the settings, in case this line is lost.
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

/// A parsed line.
#[derive(Debug)]
pub(super) enum Line {
    Start(Start),
    Record(Record),
}

/// Parses a record; `None` if the value is not a record.
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

/// Type of the record that a tool call has started.
const CALL_STARTED: &str = "musher_call_started";

impl Record {
    /// Returns the record that a tool call has started: after a crash it is not repeated.
    pub fn call_started(call_id: &str) -> Self {
        let fields = [("type", CALL_STARTED), ("toolUseId", call_id)];
        Self::Other(fields.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect())
    }

    /// Returns the call that has started, if the record says so.
    pub(super) fn started_call(&self) -> Option<&str> {
        let Self::Other(fields) = self else { return None };
        (fields.get("type")? == CALL_STARTED).then(|| fields.get("toolUseId")?.as_str())?
    }

    /// Returns the record as JSON.
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

/// Formats a value as a line, with line end.
pub(super) fn line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Formats a time as droid does.
pub(super) fn timestamp(milliseconds: i64) -> String {
    let moment = Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{moment:.3}")
}

/// Parses a time to milliseconds since 1970.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    Some(text.parse::<Timestamp>().ok()?.as_millisecond())
}

#[cfg(test)]
mod tests;
