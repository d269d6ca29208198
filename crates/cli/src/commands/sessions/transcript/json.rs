//! A session for programs: every message and every part, in stored order.

use musher_engine::{Content, Message, Role, Visibility};
use serde_json::{Value, json};

use super::super::timestamp;
use super::{Transcript, text_of};

impl Transcript {
    /// Returns the session as one object.
    pub(in super::super) fn json(&self) -> Value {
        let mut object = self.found.json();
        object["messages"] = self.stored.messages.iter().map(message).collect();
        object["todos"] = self.stored.todos.clone().unwrap_or_default();
        object["summary"] = self.stored.compaction.as_ref().map_or(
            Value::Null,
            |compacted| json!({"text": compacted.summary.summary, "messages": compacted.removed}),
        );
        object["damage"] = self.damage().into();
        object
    }
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
