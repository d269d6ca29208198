//! A session for programs: every message and every part, in stored order.

use std::io::Write;

use musher_engine::{Content, Message, Role, Visibility};
use serde_json::{Value, json};

use super::super::stores::explained;
use super::super::timestamp;
use super::{Transcript, text_of};
use crate::exit::Failure;

impl Transcript {
    /// Writes the session as one object, over several lines.
    pub(in super::super) fn json(&self, out: &mut dyn Write) -> Result<(), Failure> {
        writeln!(out, "{{")?;
        if let Value::Object(fields) = self.found.json() {
            for (name, value) in fields {
                writeln!(out, "  {}: {},", Value::from(name), indented(&value, 2)?)?;
            }
        }
        write!(out, "  \"messages\": [")?;
        let mut end = "]";
        for stored in self.reading.messages() {
            let message = message(&stored.map_err(explained)?);
            let comma = if end == "]" { "" } else { "," };
            write!(out, "{comma}\n    {}", indented(&message, 4)?)?;
            end = "\n  ]";
        }
        writeln!(out, "{end},")?;
        let todos = self.reading.todos().cloned().unwrap_or_default();
        writeln!(out, "  \"todos\": {},", indented(&todos, 2)?)?;
        let summary = self.reading.compaction().map_or(
            Value::Null,
            |compacted| json!({"text": compacted.summary.summary, "messages": compacted.removed}),
        );
        writeln!(out, "  \"summary\": {},", indented(&summary, 2)?)?;
        write!(out, "  \"damage\": {}\n}}", Value::from(self.damage()))?;
        Ok(())
    }
}

/// Returns a value over several lines, the later ones indented.
fn indented(value: &Value, by: usize) -> Result<String, Failure> {
    // line ends inside of texts are escaped
    Ok(serde_json::to_string_pretty(value)?.replace('\n', &format!("\n{:by$}", "")))
}

fn message(message: &Message) -> Value {
    json!({
        "id": message.id,
        "role": role(message.role),
        "createdAt": timestamp::utc_of_ms(message.created_at_ms),
        "model": message.model_id,
        "visibility": match message.visibility {
            Visibility::Both => "both",
            Visibility::LlmOnly => "model",
            Visibility::UserOnly => "user",
        },
        "content": message.content.iter().map(part).collect::<Value>(),
    })
}

pub(in super::super) fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::System => "system",
    }
}

fn part(content: &Content) -> Value {
    match content {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Thinking(thinking) => json!({"type": "thinking", "text": thinking.text}),
        Content::ToolUse(call) => {
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input})
        }
        Content::ToolResult { tool_use_id, for_client, is_error, .. } => json!({
            "type": "tool_result", "toolUseId": tool_use_id, "isError": is_error, "text": text_of(for_client),
        }),
        Content::Image(media) => json!({"type": "image", "mediaType": media.media_type, "data": media.data}),
        Content::Document(media) => json!({
            "type": "document", "mediaType": media.media_type, "name": media.name, "data": media.data,
        }),
        Content::Unknown(value) => value.clone(),
    }
}
