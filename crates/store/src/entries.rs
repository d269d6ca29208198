//! The records of a log as they were written, one by one, for readers that show or convert a session.
//!
//! Unlike [`scan`](super::scan), this repairs nothing: a damaged line is one entry without content.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::disk;
use super::error::{At, Result};
use super::record::milliseconds;
use super::scan::{MAX_LINE, skip_line};
use super::{SessionId, Store};

/// A record of a log.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Entry {
    /// The first line: title, directory, owner.
    Start(Map<String, Value>),
    /// A message, with its id, its parent and its times beside its content. The content is a list of parts, which have the field
    /// names of the disk.
    Message(Map<String, Value>),
    /// A turn ended.
    TurnOutcome {
        /// The turn.
        turn_id: String,
        /// The reason, as the agent names it.
        reason: String,
    },
    /// The to-do list at this point.
    Todos(Value),
    /// A summary replaces the messages before this record.
    Compaction {
        /// The summary.
        summary: String,
        /// The number of messages that the summary replaces.
        removed_messages: u64,
    },
    /// Anything else.
    Other {
        /// The type that the record names.
        kind: String,
        /// The whole record.
        record: Map<String, Value>,
    },
    /// A line that is not a record.
    Damaged,
}

/// Reads the entries of a log; see [`Store::entries`].
#[derive(Debug)]
pub struct Entries {
    reader: BufReader<std::fs::File>,
    line: Vec<u8>,
}

impl Store {
    /// Reads the records of a session one by one, as they were written. Neither follows parents nor joins messages.
    pub fn entries(&self, id: &SessionId) -> Result<Entries> {
        let path = self.paths(id)?.log();
        let file = disk::open_to_read(&path).at("open", &path)?;
        Ok(Entries { reader: BufReader::with_capacity(64 * 1024, file), line: Vec::new() })
    }

    /// Returns the directory of the sessions of a home.
    pub fn sessions_dir(home: impl AsRef<Path>) -> std::path::PathBuf {
        home.as_ref().join("sessions")
    }
}

impl Iterator for Entries {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.line.clear();
            let read = match self.reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.line) {
                Ok(0) => return None,
                Ok(read) => read as u64,
                Err(error) => return Some(Err(error)),
            };
            if read == MAX_LINE && self.line.last() != Some(&b'\n') {
                return Some(skip_line(&mut self.reader).map(|_length| Entry::Damaged));
            }
            let line = self.line.trim_ascii();
            if !line.is_empty() {
                return Some(Ok(entry(&String::from_utf8_lossy(line)).unwrap_or(Entry::Damaged)));
            }
        }
    }
}

/// Parses a line; `None` if it is damaged.
fn entry(line: &str) -> Option<Entry> {
    let Value::Object(mut fields) = serde_json::from_str(line).ok()? else { return None };
    let kind = fields.get("type")?.as_str()?.to_owned();
    let text =
        |fields: &Map<String, Value>, key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(match kind.as_str() {
        "session_start" => Entry::Start(fields),
        "message" => Entry::Message(message(&mut fields)?),
        "agent_turn_outcome" => {
            Entry::TurnOutcome { turn_id: text(&fields, "turnId")?, reason: text(&fields, "reason")? }
        }
        "todo_state" => Entry::Todos(fields.shift_remove("todos")?),
        "compaction_state" => Entry::Compaction {
            summary: text(&fields, "summaryText")?,
            removed_messages: fields.get("removedCount").and_then(Value::as_u64).unwrap_or_default(),
        },
        _ => Entry::Other { kind, record: fields },
    })
}

/// Joins the fields of the record and of the message in it.
fn message(record: &mut Map<String, Value>) -> Option<Map<String, Value>> {
    let Value::Object(mut message) = record.shift_remove("message")? else { return None };
    for key in ["id", "parentId"] {
        if let Some(value) = record.shift_remove(key) {
            message.insert(key.to_owned(), value);
        }
    }
    let at = record.get("timestamp").and_then(Value::as_str).and_then(milliseconds);
    if let Some(at) = at.filter(|at| *at >= 0) {
        for key in ["createdAt", "updatedAt"] {
            message.entry(key).or_insert_with(|| at.into());
        }
    }
    match message.get_mut("content")? {
        Value::Array(_) => {}
        content => {
            let Value::String(text) = content.take() else { return None };
            *content = json!([{"type": "text", "text": text}]);
        }
    }
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_its_id_and_its_times() {
        let line = r#"{"type":"message","id":"m","parentId":"p","timestamp":"1970-01-01T00:00:01.500Z","message":{"role":"user","content":"x","updatedAt":2}}"#;
        let Some(Entry::Message(message)) = entry(line) else { panic!("a message") };
        let content = json!([{"type": "text", "text": "x"}]);
        let expected = json!({
            "role": "user", "content": content, "updatedAt": 2, "id": "m", "parentId": "p", "createdAt": 1500,
        });
        assert_eq!(Value::Object(message), expected);
    }

    #[test]
    fn record_without_its_fields_is_damaged() {
        for line in [
            r#"{"type":"message","id":"m"}"#,
            r#"{"type":"message","id":"m","message":{"role":"user","content":7}}"#,
            r#"{"type":"todo_state"}"#,
            r#"{"type":"agent_turn_outcome","turnId":"t"}"#,
            r#"{"type":7}"#,
            "[1]",
        ] {
            assert_eq!(entry(line), None, "{line}");
        }
        let other = entry(r#"{"type":"later_invention","x":1}"#);
        assert!(matches!(other, Some(Entry::Other { kind, .. }) if kind == "later_invention"));
    }
}
