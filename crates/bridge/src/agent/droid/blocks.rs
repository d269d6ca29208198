//! Content of messages in the spelling of the vendor's API, which front ends read. Pure.

use musher::wire::{ContentBlock, Source, ToolResultContent};
use serde_json::{Value, json};

/// Returns a message of the assistant. The agent counts tokens per turn only, so the counts here are 0.
pub(super) fn message(id: &str, model: &str, content: &[Value]) -> Value {
    json!({
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": 0, "output_tokens": 0,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        },
    })
}

/// Returns one block.
pub(super) fn block(block: &ContentBlock) -> Value {
    match block {
        ContentBlock::Text(it) => json!({"type": "text", "text": it.text}),
        ContentBlock::Thinking(it) => json!({
            "type": "thinking", "thinking": it.thinking, "signature": it.signature.as_deref().unwrap_or_default(),
        }),
        ContentBlock::RedactedThinking(it) => json!({"type": "redacted_thinking", "data": it.data}),
        ContentBlock::ToolUse(it) => {
            json!({"type": "tool_use", "id": it.id, "name": it.name, "input": it.input})
        }
        ContentBlock::ToolResult(it) => {
            tool_result(&it.tool_use_id, &it.content, it.is_error.unwrap_or_default())
        }
        ContentBlock::Image(it) => json!({"type": "image", "source": source(&it.source)}),
        ContentBlock::Document(it) => {
            json!({"type": "document", "source": source(&it.source), "title": it.source.name})
        }
        // blocks of newer agents are passed on unchanged
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

/// Returns the result of a tool call.
pub(super) fn tool_result(tool_use_id: &str, content: &ToolResultContent, is_error: bool) -> Value {
    let content = match content {
        ToolResultContent::Text(text) => json!(text),
        ToolResultContent::Blocks(blocks) => blocks.iter().map(block).collect(),
        other => serde_json::to_value(other).unwrap_or_default(),
    };
    json!({"type": "tool_result", "tool_use_id": tool_use_id, "content": content, "is_error": is_error})
}

fn source(source: &Source) -> Value {
    json!({"type": source.kind, "media_type": source.media_type, "data": source.data})
}
