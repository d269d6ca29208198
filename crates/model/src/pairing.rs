//! Makes a conversation one that vendors take: every tool call has exactly one result, right behind it.
//!
//! Vendors refuse the whole request otherwise, so one lost result would end a conversation for good.

use std::collections::HashSet;

use crate::{Block, Message, Role, ToolResult};

/// The messages with calls and results paired one to one.
///
/// A call without a result gets one that says so. A result without a call before it, and a second one for the same call, is
/// left out. Neighbours of the same role become one message, and a message without content none.
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
            // behind the results that are there, before what the user says
            let results = content.iter().take_while(|block| matches!(block, Block::ToolResult(_))).count();
            let lost = missing(&mut open);
            content.splice(results..results, lost);
        }
        push(&mut out, message.role, content);
    }
    push(&mut out, Role::User, missing(&mut open));
    out
}

/// Two messages of the model in a row are one answer, unless the first one already called tools.
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

/// What the user says, results first; those nobody waits for are left out, and so are calls and thinking.
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
            Block::ToolUse(_) | Block::Thinking(_) => {}
            other => rest.push(other.clone()),
        }
    }
    results.append(&mut rest);
    results
}

fn missing(open: &mut Vec<String>) -> Vec<Block> {
    let lost = |id| {
        let text = ToolResult::text(id, "The call was interrupted: there is no result.");
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
