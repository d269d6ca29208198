//! One record of a stored conversation in the wire's form. Pure.
//!
//! `musher-store` reads records; messages on disk differ slightly from messages on the wire.

use musher_store::Entry;
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

/// Converts an entry of a log; `None` if it is damaged.
pub(super) fn of_entry(entry: Entry) -> Option<StoredRecord> {
    Some(match entry {
        Entry::Message(fields) => StoredRecord::Message(Box::new(message(fields)?)),
        Entry::TurnOutcome { turn_id, reason } => StoredRecord::TurnOutcome { turn_id, reason },
        Entry::Todos(todos) => StoredRecord::Todos(Json::from(&todos)),
        Entry::Compaction { summary, removed_messages } => {
            StoredRecord::Compaction { summary, removed_messages }
        }
        Entry::Other { kind, record } => {
            StoredRecord::Other { kind, record: Json::from(Value::Object(record)) }
        }
        Entry::Start(record) => StoredRecord::Other {
            kind: "session_start".to_owned(),
            record: Json::from(Value::Object(record)),
        },
        _ => return None,
    })
}

fn message(mut message: Map<String, Value>) -> Option<Message> {
    let mut has_results = false;
    for block in message.get_mut("content")?.as_array_mut()? {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_tools_get_the_form_of_the_wire() {
        let fields = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]}],"id":"m","parentId":"p","createdAt":1000,"updatedAt":1000}"#;
        let entry = Entry::Message(serde_json::from_str(fields).unwrap());
        let StoredRecord::Message(message) = of_entry(entry).unwrap() else { panic!("no message") };
        let expected = r#"{"id":"m","role":"tool","content":[{"type":"tool_result","toolUseId":"t","content":[{"type":"image","source":{"type":"base64","mediaType":"image/png","data":"AA=="}}],"isError":true}],"createdAt":1000,"updatedAt":1000,"parentId":"p"}"#;
        assert_eq!(serde_json::to_string(&message).unwrap(), expected);
    }
}
