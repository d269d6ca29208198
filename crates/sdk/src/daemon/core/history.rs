//! What a session missed, told from the loaded conversation: for daemons that do not replay notifications. Pure.

use std::collections::HashSet;

use musher_wire::{ContentBlock, DroidWorkingState, LoadSessionResult, Message, MessageRole};
use serde_json::{Value, json};

/// The content of a result that droid has stored before the tool ended.
const PENDING_RESULT: &str = "__TOOL_RESULT_PENDING__";

/// Returns whether the agent works on a turn.
pub(super) fn is_busy(loaded: &LoadSessionResult) -> bool {
    match (&loaded.is_agent_loop_in_progress, &loaded.working_state) {
        (Some(true), _) => true,
        (Some(false), _) | (None, None) => false,
        (None, Some(state)) => *state != DroidWorkingState::Idle,
    }
}

/// Returns the notifications that a session which knows the messages `seen` has missed, as far as they can be told.
pub(super) fn missed(loaded: &LoadSessionResult, seen: &HashSet<String>) -> Vec<Value> {
    let mut missed = Vec::new();
    let messages = &loaded.session.messages;
    for (at, message) in messages.iter().enumerate() {
        let is_last = at + 1 == messages.len();
        // a message that is still being written is announced when it is complete
        let is_unfinished =
            is_last && is_busy(loaded) && message.role == MessageRole::Assistant && !has_calls(message);
        if seen.contains(&message.id) || is_unfinished {
            continue;
        }
        missed.push(json!({"type": "create_message", "message": message}));
        missed.extend(message.content.iter().filter_map(result));
    }
    if let Some(settings) = &loaded.settings {
        missed.push(json!({"type": "settings_updated", "settings": settings}));
    }
    if let Some(title) = &loaded.session.title {
        missed.push(json!({"type": "session_title_updated", "title": title}));
    }
    if let Some(usage) = &loaded.token_usage {
        missed.push(json!({"type": "session_token_usage_changed", "tokenUsage": usage}));
    }
    missed
}

/// Returns why turns ended that were running when the connection was lost: the conversation of a completed turn ends with an answer.
pub(super) fn reason(loaded: &LoadSessionResult) -> &'static str {
    let last = loaded.session.messages.last();
    let is_answered = last.is_some_and(|last| last.role == MessageRole::Assistant && !has_calls(last));
    if is_answered { "completed" } else { "cancelled" }
}

fn has_calls(message: &Message) -> bool {
    message.content.iter().any(|block| matches!(block, ContentBlock::ToolUse(_)))
}

/// Returns the result of a tool call as its notification.
fn result(block: &ContentBlock) -> Option<Value> {
    let ContentBlock::ToolResult(result) = block else { return None };
    let content = serde_json::to_value(&result.content).ok()?;
    if content == PENDING_RESULT {
        return None;
    }
    let is_error = result.is_error.unwrap_or_default();
    Some(
        json!({"type": "tool_result", "toolUseId": result.tool_use_id, "content": content, "isError": is_error}),
    )
}
