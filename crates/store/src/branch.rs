//! Builds a conversation from the records of a log: follows parents, joins messages written in parts, closes open tool calls. Pure.

use std::collections::{HashMap, HashSet};

use musher_message::Part;
use serde_json::Value;

use super::record::{Compaction, Record};
use musher_message::{Content, Message, Role};

/// A conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) messages: Vec<Message>,
    pub(super) compaction: Option<(Compaction, usize)>,
    pub(super) todos: Option<Value>,
    pub(super) queued: Vec<Message>,
    pub(super) title: Option<(String, bool)>,
}

/// A message and the position of its parent.
#[derive(Debug)]
struct Node {
    parts: Parts,
    parent: Option<usize>,
}

/// A message that may be written in parts.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) message: Message,
    /// Ids of the calls whose results are in the message; set once a second part of the message is found.
    results: Option<HashSet<String>>,
}

/// Builds the conversation: the branch that ends with the last message.
pub(super) fn conversation(records: impl IntoIterator<Item = Record>) -> Conversation {
    let mut nodes: Vec<Node> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut out = Conversation::default();
    let mut compacted: Option<(Compaction, usize)> = None;
    for record in records {
        match record {
            Record::Message(message) => {
                out.queued.retain(|queued| queued.id != message.id);
                if let Some(&place) = places.get(&message.id) {
                    nodes[place].parts.join(*message);
                } else {
                    let parent = message.parent_id.as_ref().and_then(|id| places.get(id)).copied();
                    // a missing parent most likely was the preceding message
                    let parent = parent.or(nodes.len().checked_sub(1));
                    places.insert(message.id.clone(), nodes.len());
                    nodes.push(Node { parts: Parts::new(*message), parent });
                }
            }
            Record::Queued(message) => {
                if !places.contains_key(&message.id) {
                    out.queued.push(*message);
                }
            }
            Record::Discarded { message_id } => out.queued.retain(|queued| queued.id != message_id),
            Record::Todos { todos, .. } => out.todos = Some(todos),
            Record::Compaction(compaction) => compacted = Some((*compaction, nodes.len())),
            Record::Title { title, is_manual } => out.title = Some((title, is_manual)),
            Record::TurnOutcome { .. } | Record::Other(_) => {}
        }
    }

    let is_hook_run = |place: usize| nodes[place].parts.message.is_hook_run();
    let is_active = active(nodes.len(), |place| nodes[place].parent, is_hook_run);
    if let Some((compaction, before)) = compacted {
        let kept_from = compaction.last_removed.as_ref().and_then(|id| places.get(id));
        let before = kept_from.map_or(before, |last| last + 1);
        let removed = is_active[..before].iter().filter(|is_active| **is_active).count();
        out.compaction = Some((compaction, removed));
    }
    let active = nodes.into_iter().zip(is_active).filter(|(_, is_active)| *is_active);
    out.messages = active.map(|(node, _)| node.parts.message).collect();
    out
}

/// Returns which messages are in the conversation: the branch that ends with the last one, and hook runs on it.
pub(super) fn active(
    count: usize,
    parent: impl Fn(usize) -> Option<usize>,
    is_hook_run: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut is_active = vec![false; count];
    let mut next = count.checked_sub(1);
    while let Some(place) = next {
        is_active[place] = true;
        // parents precede their children, so the loop terminates
        next = parent(place);
    }
    for place in 0..count {
        // in droid's logs, hook runs have no children
        let is_on_branch = parent(place).is_none_or(|parent| is_active[parent]);
        is_active[place] |= is_on_branch && is_hook_run(place);
    }
    is_active
}

impl Parts {
    pub(super) fn new(message: Message) -> Self {
        Self { message, results: None }
    }

    /// Joins a message that was written again: tool results are added, any other content is replaced.
    pub(super) fn join(&mut self, new: Message) {
        let old = &mut self.message;
        if old.role == Role::Tool && new.role == Role::Tool {
            // the set is built once: otherwise an answer with many tool calls would take quadratic time
            let known = self
                .results
                .get_or_insert_with(|| old.content.iter().filter_map(result_id).map(str::to_owned).collect());
            for part in new.content {
                if result_id(&part).is_none_or(|id| known.insert(id.to_owned())) {
                    old.content.push(part);
                }
            }
            old.updated_at_ms = new.updated_at_ms;
        } else {
            *old = Message { parent_id: old.parent_id.take(), ..new };
            self.results = None;
        }
    }
}

/// Adds a result to every tool call without one. Returns the number of such calls, and the messages to write, which hold only the added
/// results.
pub(super) fn close_calls(
    messages: &mut Vec<Message>,
    leaves_open: &HashSet<String>,
) -> (usize, Vec<Message>) {
    let mut to_write = Vec::new();
    let mut closed = 0;
    let mut at = 0;
    while at < messages.len() {
        let mut open = calls(&messages[at]);
        if open.is_empty() {
            at += 1;
            continue;
        }
        let turn_end = messages[at + 1..].iter().position(|message| message.role == Role::Assistant);
        let turn_end = turn_end.map_or(messages.len(), |offset| at + 1 + offset);
        let results: HashSet<&str> = messages[at + 1..turn_end]
            .iter()
            .flat_map(|message| &message.content)
            .filter_map(result_id)
            .collect();
        open.retain(|id| !results.contains(id.as_str()) && !leaves_open.contains(id));
        if open.is_empty() {
            at += 1;
            continue;
        }
        closed += open.len();
        let results: Vec<Content> = open.into_iter().map(interrupted).collect();
        let partial = messages[at + 1..turn_end].iter().position(|message| message.role == Role::Tool);
        if let Some(offset) = partial {
            let message = &mut messages[at + 1 + offset];
            to_write.push(Message { content: results.clone(), ..message.clone() });
            message.content.extend(results);
        } else {
            let is_end = at + 1 == messages.len();
            let caller = &messages[at];
            let message = message_of(caller, results);
            // in the middle of the log it would start a branch, so there it is created on every load instead
            if is_end {
                to_write.push(message.clone());
            }
            messages.insert(at + 1, message);
        }
        at += 1;
    }
    (closed, to_write)
}

/// Returns the message with the results of interrupted calls.
pub(super) fn interruption(caller: &Message, calls: impl Iterator<Item = String>) -> Message {
    message_of(caller, calls.map(interrupted).collect())
}

fn message_of(caller: &Message, results: Vec<Content>) -> Message {
    let mut message = Message::new(format!("interrupted-{}", caller.id), Role::Tool, results);
    message.parent_id = Some(caller.id.clone());
    (message.created_at_ms, message.updated_at_ms) = (caller.created_at_ms, caller.updated_at_ms);
    message
}

/// Returns the calls of the last answer that have no result, if nothing but results follows it.
pub(super) fn open_calls(messages: &[Message]) -> Vec<String> {
    let Some(last) = messages.iter().rposition(|message| message.role == Role::Assistant) else {
        return Vec::new();
    };
    let after = &messages[last + 1..];
    if after.iter().any(|message| message.role != Role::Tool && !message.is_hook_run()) {
        return Vec::new();
    }
    let results: HashSet<&str> =
        after.iter().flat_map(|message| &message.content).filter_map(result_id).collect();
    let mut open = calls(&messages[last]);
    open.retain(|id| !results.contains(id.as_str()));
    open
}

fn calls(message: &Message) -> Vec<String> {
    let mut seen = HashSet::new();
    let ids = message.content.iter().filter_map(|part| match part {
        Content::ToolUse(call) if message.role == Role::Assistant => Some(call.id.clone()),
        _ => None,
    });
    ids.filter(|id| seen.insert(id.clone())).collect()
}

/// Returns the id of the call that a part is the result of.
pub(super) fn result_id(part: &Content) -> Option<&str> {
    match part {
        Content::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}

pub(super) fn interrupted(tool_use_id: String) -> Content {
    let text = |text: &str| vec![Part::Text(text.to_owned())];
    Content::ToolResult {
        tool_use_id,
        for_client: text("Error: Tool execution interrupted"),
        for_model: text(
            "Error: The session was interrupted before this call had a result. It may have run in part or in whole: check before repeating it.",
        ),
        is_error: true,
    }
}
