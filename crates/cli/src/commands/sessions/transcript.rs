//! Renders a stored session as text, Markdown or JSON. Pure.
//!
//! Everything in it comes from outside, so that nothing but text, spaces and line ends comes through to a terminal.

mod json;
mod markdown;
mod text;

pub(super) use json::role;

use std::collections::HashMap;

use musher_engine::store::Stored;
use musher_engine::{Content, Message, Part, Role, ToolUse, Visibility};
use serde_json::Value;

use super::stores::Found;
use super::timestamp;
use crate::sanitize::sanitized;

/// The input fields that describe a tool call, best first.
const SUBJECT_FIELDS: [&str; 10] = [
    "command",
    "file_path",
    "path",
    "pattern",
    "patterns",
    "query",
    "url",
    "prompt",
    "description",
    "directory_path",
];
/// Maximum length of the description of a tool call, in characters.
const MAX_CALL_LENGTH: usize = 160;

/// A session to be read.
#[derive(Debug)]
pub(super) struct Transcript {
    found: Found,
    stored: Stored,
}

/// An entry of the transcript, in reading order.
#[derive(Debug, PartialEq)]
enum Item<'a> {
    /// A new speaker.
    Speaker(Role),
    Text(&'a str),
    Thinking(&'a str),
    Call {
        call: &'a ToolUse,
        result: Option<(String, bool)>,
    },
    /// An image or a document, described.
    Attachment(String),
    /// The number of messages before this that were compacted.
    Compacted(usize),
}

impl Transcript {
    pub(super) fn new(found: Found, stored: Stored) -> Self {
        Self { found, stored }
    }

    /// Returns the damage of the session's files, if any.
    pub(super) fn damage(&self) -> Option<String> {
        (!self.stored.damage.is_none()).then(|| self.stored.damage.to_string())
    }

    /// Returns id, owner, directory, length and time.
    fn facts(&self) -> Vec<String> {
        let summary = &self.found.summary;
        let messages = self.stored.messages.iter().filter(|message| is_visible(message)).count();
        let cwd = summary.cwd.as_ref().map(|cwd| sanitized(&cwd.to_string_lossy(), 500));
        let noun = if messages == 1 { "message" } else { "messages" };
        let facts = [
            Some(summary.id.to_string()),
            Some(self.found.owner.name().to_owned()),
            cwd,
            Some(format!("{messages} {noun}")),
            timestamp::utc(summary.modified),
            summary.is_archived.then(|| "archived".to_owned()),
        ];
        facts.into_iter().flatten().collect()
    }

    /// Returns the entries; results follow their calls.
    fn items(&self) -> Vec<Item<'_>> {
        let results = results(&self.stored.messages);
        let removed = self.stored.compaction.as_ref().map(|compaction| compaction.removed);
        let mut items = Vec::new();
        let mut speaker = None;
        for (index, message) in self.stored.messages.iter().enumerate() {
            if removed == Some(index) && index > 0 {
                items.push(Item::Compacted(index));
            }
            // results follow their calls
            if !is_visible(message) || message.role == Role::Tool {
                continue;
            }
            if speaker != Some(message.role) {
                speaker = Some(message.role);
                items.push(Item::Speaker(message.role));
            }
            items.extend(message.content.iter().filter_map(|content| item(content, &results)));
        }
        items
    }
}

pub(super) fn is_visible(message: &Message) -> bool {
    message.visibility != Visibility::LlmOnly
}

fn results(messages: &[Message]) -> HashMap<&str, (String, bool)> {
    let contents = messages.iter().flat_map(|message| &message.content);
    let results = contents.filter_map(|content| match content {
        Content::ToolResult { tool_use_id, for_client, is_error, .. } => {
            Some((tool_use_id.as_str(), (text_of(for_client), *is_error)))
        }
        _ => None,
    });
    results.collect()
}

/// The text of a result.
pub(super) fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Image { media_type, data } => describe_attachment("image", media_type, data),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn item<'a>(content: &'a Content, results: &HashMap<&str, (String, bool)>) -> Option<Item<'a>> {
    Some(match content {
        Content::Text(text) if text.trim().is_empty() => return None,
        Content::Text(text) => Item::Text(text),
        Content::Thinking(thinking) => Item::Thinking(&thinking.text),
        Content::ToolUse(call) => Item::Call { call, result: results.get(call.id.as_str()).cloned() },
        Content::Image(media) => {
            Item::Attachment(describe_attachment("image", &media.media_type, &media.data))
        }
        Content::Document(media) => {
            Item::Attachment(describe_attachment("document", &media.media_type, &media.data))
        }
        Content::Unknown(value) => Item::Attachment(format!(
            "[{}]",
            sanitized(value["type"].as_str().unwrap_or("something else"), 40)
        )),
        Content::ToolResult { .. } => return None,
    })
}

fn describe_attachment(what: &str, media_type: &str, base64: &str) -> String {
    format!("[{what}, {}, {} kB]", sanitized(media_type, 60), base64.len() * 3 / 4 / 1000)
}

/// Renders a tool call in one line: the tool and its subject.
pub(super) fn call_line(call: &ToolUse) -> (String, String) {
    let telling = SUBJECT_FIELDS.iter().find_map(|field| match call.input.get(*field)? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    });
    let about = telling.unwrap_or_else(|| {
        if call.input.is_empty() { String::new() } else { Value::Object(call.input.clone()).to_string() }
    });
    (sanitized(&call.name, 60), sanitized(&about, MAX_CALL_LENGTH))
}

/// Lines without control characters.
fn clean_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| sanitized(&line.replace('\t', "    "), usize::MAX).trim_end().to_owned())
}

#[cfg(test)]
mod tests;
