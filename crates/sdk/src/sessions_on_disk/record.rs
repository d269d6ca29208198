//! One line of a stored conversation, as the message or note it is. Pure.
//!
//! Messages on disk differ slightly from messages on the wire; this module converts them to the wire's form.

use musher_wire::{Json, Message};
use serde_json::{Map, Value};

/// One record of a stored conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StoredRecord {
    /// A message, in the form it has on the wire.
    Message(Box<Message>),
    /// A turn ended.
    TurnOutcome {
        /// The turn.
        turn_id: String,
        /// The reason, as the agent names it.
        reason: String,
    },
    /// The to-do list at this point.
    Todos(Json),
    /// The conversation was compacted: a summary replaces the messages before this record.
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
        record: Json,
    },
}

/// Reads a record; `None` if it is damaged.
pub(super) fn read(line: &str) -> Option<StoredRecord> {
    let Value::Object(mut fields) = serde_json::from_str(line).ok()? else { return None };
    let kind = fields.get("type")?.as_str()?.to_owned();
    let text =
        |fields: &Map<String, Value>, key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(match kind.as_str() {
        "message" => StoredRecord::Message(Box::new(message(&mut fields)?)),
        "agent_turn_outcome" => {
            StoredRecord::TurnOutcome { turn_id: text(&fields, "turnId")?, reason: text(&fields, "reason")? }
        }
        "todo_state" => StoredRecord::Todos(Json::from(fields.get("todos")?)),
        "compaction_state" => StoredRecord::Compaction {
            summary: text(&fields, "summaryText")?,
            removed_messages: fields.get("removedCount").and_then(Value::as_u64).unwrap_or_default(),
        },
        _ => StoredRecord::Other { kind, record: Json::from(Value::Object(fields)) },
    })
}

fn message(record: &mut Map<String, Value>) -> Option<Message> {
    let Value::Object(mut message) = record.remove("message")? else { return None };
    for key in ["id", "parentId"] {
        if let Some(value) = record.remove(key) {
            message.insert(key.to_owned(), value);
        }
    }
    if let Some(at) = record.get("timestamp").and_then(Value::as_str).and_then(milliseconds) {
        for key in ["createdAt", "updatedAt"] {
            message.entry(key).or_insert_with(|| at.into());
        }
    }
    let content = message.get_mut("content")?;
    if let Value::String(text) = content {
        *content = serde_json::json!([{"type": "text", "text": text}]);
    }
    let mut has_results = false;
    for block in content.as_array_mut()? {
        has_results |= block["type"] == "tool_result";
        to_wire(block);
    }
    if has_results {
        message.insert("role".to_owned(), "tool".into());
    }
    serde_json::from_value(Value::Object(message)).ok()
}

/// Gives the fields of a block their names on the wire, also inside of the result of a tool.
fn to_wire(block: &mut Value) {
    const NAMES: [(&str, &str); 3] =
        [("tool_use_id", "toolUseId"), ("is_error", "isError"), ("media_type", "mediaType")];
    let Some(fields) = block.as_object_mut() else { return };
    // the input of a tool is the model's own and stays as it is
    for (stored, wire) in NAMES {
        if let Some(value) = fields.remove(stored) {
            fields.insert(wire.to_owned(), value);
        }
    }
    if let Some(source) = fields.get_mut("source") {
        to_wire(source);
    }
    if let Some(Value::Array(parts)) = fields.get_mut("content") {
        parts.iter_mut().for_each(to_wire);
    }
}

/// Milliseconds since 1970 of a time like `2026-11-15T21:20:58.769Z`.
fn milliseconds(text: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    if !text.is_ascii() || !text.ends_with('Z') {
        return None;
    }
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let fraction = text.get(19..text.len() - 1)?.strip_prefix('.').unwrap_or("0");
    let millis: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    // days since 1970 by the calendar of today, counted in years that begin in March
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468;
    u64::try_from(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + millis).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_milliseconds_since_1970() {
        for (text, expected) in [
            ("1970-01-01T00:00:00.000Z", Some(0)),
            ("2000-02-29T12:34:56.7Z", Some(951_827_696_700)),
            ("2026-11-15T21:20:58.769Z", Some(1_794_777_658_769)),
            ("2026-11-15T21:20:58Z", Some(1_794_777_658_000)),
            ("2026-11-15", None),
            ("ä026-11-15T21:20:58Z", None),
            ("", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }

    #[test]
    fn results_of_tools_get_the_form_of_the_wire() {
        let line = r#"{"type":"message","id":"m","parentId":"p","timestamp":"1970-01-01T00:00:01.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]}]}}"#;
        let StoredRecord::Message(message) = read(line).unwrap() else { panic!("no message") };
        let expected = r#"{"id":"m","role":"tool","content":[{"type":"tool_result","toolUseId":"t","content":[{"type":"image","source":{"type":"base64","mediaType":"image/png","data":"AA=="}}],"isError":true}],"createdAt":1000,"updatedAt":1000,"parentId":"p"}"#;
        assert_eq!(serde_json::to_string(&message).unwrap(), expected);
    }
}
