//! Makes a conversation acceptable to vendors: every tool call has exactly one result, directly after it.
//!
//! Vendors reject the whole request otherwise, so a single lost result would make a session unusable.

use std::collections::HashSet;

use crate::{Block, Message, Role, ToolResult};

/// Returns the messages with tool calls and results paired one to one.
///
/// A call without a result gets an error result. A result without a preceding call, and a second result of one call, is
/// dropped. Adjacent messages of one role are merged, and empty messages are dropped.
pub fn paired(messages: &[Message]) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        let mut content = match message.role {
            Role::Assistant => {
                if !open.is_empty() && opens_turn(&out, message) {
                    push(&mut out, Role::User, missing(&mut open));
                }
                unique_calls(&message.content, &mut open)
            }
            Role::User => results_of(&message.content, &mut open),
        };
        if message.role == Role::User {
            // after the existing results, before the user's own text
            let results = content.iter().take_while(|block| matches!(block, Block::ToolResult(_))).count();
            let lost = missing(&mut open);
            content.splice(results..results, lost);
        }
        push(&mut out, message.role, content);
    }
    push(&mut out, Role::User, missing(&mut open));
    out
}

/// Returns whether `message` starts a new answer: two assistant messages in a row are one, unless the first calls tools.
fn opens_turn(out: &[Message], message: &Message) -> bool {
    let calls = |message: &Message| message.content.iter().any(|block| matches!(block, Block::ToolUse(_)));
    message.role == Role::Assistant && out.last().is_some_and(calls)
}

fn unique_calls(content: &[Block], open: &mut Vec<String>) -> Vec<Block> {
    let mut seen: HashSet<String> = open.iter().cloned().collect();
    let keep = |block: &&Block| match block {
        Block::ToolUse(call) => seen.insert(call.id.clone()),
        Block::ToolResult(_) => false,
        _ => true,
    };
    let kept: Vec<Block> = content.iter().filter(keep).cloned().collect();
    open.extend(kept.iter().filter_map(|block| match block {
        Block::ToolUse(call) => Some(call.id.clone()),
        _ => None,
    }));
    kept
}

/// Returns the content of a user message, results first. Drops results without a call, and calls and reasoning.
fn results_of(content: &[Block], open: &mut Vec<String>) -> Vec<Block> {
    let (mut results, mut rest) = (Vec::new(), Vec::new());
    for block in content {
        match block {
            Block::ToolResult(result) => {
                if let Some(at) = open.iter().position(|id| *id == result.id) {
                    open.remove(at);
                    results.push(block.clone());
                }
            }
            Block::ToolUse(_) | Block::Thinking(_) | Block::Label { .. } | Block::Other(_) => {}
            other => rest.push(other.clone()),
        }
    }
    results.append(&mut rest);
    results
}

fn missing(open: &mut Vec<String>) -> Vec<Block> {
    let lost = |id| {
        let text = ToolResult::text(id, "Error: the tool call was interrupted and has no result.");
        Block::ToolResult(ToolResult { is_error: true, ..text })
    };
    open.drain(..).map(lost).collect()
}

fn push(out: &mut Vec<Message>, role: Role, mut content: Vec<Block>) {
    content.retain(|block| !matches!(block, Block::Text { text } if text.trim().is_empty()));
    if content.is_empty() {
        return;
    }
    match out.last_mut() {
        Some(last) if last.role == role => last.content.append(&mut content),
        _ => out.push(Message { role, content }),
    }
}

#[cfg(test)]
mod tests;
