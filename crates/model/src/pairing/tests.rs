//! Tests of pairing: incomplete conversations, and the guarantee for arbitrary ones.

use proptest::prelude::*;
use serde_json::Map;

use super::*;
use crate::ToolUse;

fn call(id: &str) -> Block {
    Block::ToolUse(ToolUse::new(id, "Read", Map::new()))
}

fn result(id: &str) -> Block {
    Block::ToolResult(ToolResult::text(id, "ok"))
}

fn says(role: Role, content: Vec<Block>) -> Message {
    Message { role, content }
}

/// Formats a conversation: `u` and `a` are messages, followed by their blocks.
fn short(messages: &[Message]) -> String {
    let block = |block: &Block| match block {
        Block::Text { text } => text.clone(),
        Block::ToolUse(call) => format!("call({})", call.id),
        Block::ToolResult(result) if result.is_error => format!("lost({})", result.id),
        Block::ToolResult(result) => format!("result({})", result.id),
        other => format!("{other:?}"),
    };
    let message = |message: &Message| {
        let role = if message.role == Role::User { "u" } else { "a" };
        format!("{role}:{}", message.content.iter().map(block).collect::<Vec<_>>().join(","))
    };
    messages.iter().map(message).collect::<Vec<_>>().join(" ")
}

#[test]
fn complete_conversation_is_unchanged() {
    let messages = [
        Message::user("go"),
        says(Role::Assistant, vec![Block::text("ok"), call("1"), call("2")]),
        says(Role::User, vec![result("1"), result("2"), Block::text("and?")]),
        Message::assistant("done"),
    ];
    assert_eq!(paired(&messages), messages);
}

#[test]
fn missing_results_are_added_and_stray_results_dropped() {
    let messages = [
        Message::user("go"),
        says(Role::Assistant, vec![call("1"), call("2"), call("1")]),
        says(Role::User, vec![Block::text("wait"), result("2"), result("2"), result("9")]),
        says(Role::Assistant, vec![call("3")]),
        says(Role::Assistant, vec![call("4")]),
    ];
    let expected = "u:go a:call(1),call(2) u:result(2),lost(1),wait a:call(3) u:lost(3) a:call(4) u:lost(4)";
    assert_eq!(short(&paired(&messages)), expected);
}

#[test]
fn adjacent_messages_are_merged_and_empty_ones_dropped() {
    let messages = [
        Message::user("a"),
        Message::user(" "),
        Message::user("b"),
        Message::assistant("c"),
        Message::assistant("d"),
    ];
    assert_eq!(short(&paired(&messages)), "u:a,b a:c,d");
}

fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let id = || "[1-4]";
    let block = prop_oneof![
        Just(Block::text("x")),
        Just(Block::text("")),
        id().prop_map(|id| call(&id)),
        id().prop_map(|id| result(&id)),
    ];
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    let message =
        (role, proptest::collection::vec(block, 0..5)).prop_map(|(role, content)| says(role, content));
    proptest::collection::vec(message, 0..8)
}

proptest! {
    #[test]
    fn every_call_has_one_result_directly_after_it(messages in conversation()) {
        let paired = paired(&messages);
        let mut open: Vec<String> = Vec::new();
        let mut last = None;
        for message in &paired {
            prop_assert_ne!(Some(message.role), last);
            last = Some(message.role);
            prop_assert!(!message.content.is_empty());
            if message.role == Role::Assistant {
                prop_assert!(open.is_empty());
            }
            for block in &message.content {
                match block {
                    Block::ToolUse(call) => open.push(call.id.clone()),
                    Block::ToolResult(result) => {
                        let at = open.iter().position(|id| *id == result.id);
                        prop_assert!(at.is_some());
                        open.remove(at.unwrap());
                    }
                    _ => {}
                }
            }
            if message.role == Role::User {
                prop_assert!(open.is_empty());
            }
        }
        prop_assert!(open.is_empty());
        prop_assert_eq!(super::paired(&paired), paired);
    }
}
