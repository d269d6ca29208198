//! Renders a stored session as text, Markdown or JSON, message by message, so that a session of any size takes little memory.
//!
//! Everything in it comes from outside, so that nothing but text, spaces and line ends comes through to a terminal.

mod json;
mod markdown;
mod text;

pub(super) use json::role;

use musher_engine::store::Reading;
use musher_engine::{Content, Message, Part, Role, Spending, ToolUse, Visibility};
use serde_json::Value;

use super::super::usage::cost;
use super::stores::{Found, explained};
use super::timestamp;
use crate::exit::Failure;
use crate::sanitize::sanitized;
use crate::view::{self, grouped};

/// The input fields that describe a tool call, best first.
const SUBJECT_FIELDS: [&str; 10] = [
    "command",
    "pattern",
    "patterns",
    "query",
    "file_path",
    "path",
    "url",
    "prompt",
    "description",
    "directory_path",
];
/// The input field of a to-do list.
const TODOS: &str = "todos";
/// Maximum length of the description of a tool call, in characters.
const MAX_CALL_LENGTH: usize = 160;

/// A session to be read.
#[derive(Debug)]
pub(super) struct Transcript {
    found: Found,
    reading: Reading,
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
    /// The number of messages before this that were compacted, and their summary.
    Compacted(usize, &'a str),
}

impl Transcript {
    pub(super) fn new(found: Found, reading: Reading) -> Self {
        Self { found, reading }
    }

    /// Returns the damage of the session's files, if any. Complete after the messages were rendered.
    pub(super) fn damage(&self) -> Option<String> {
        let damage = self.reading.damage();
        (!damage.is_none()).then(|| damage.to_string())
    }

    /// Returns id, owner, directory, length and time.
    fn facts(&self) -> Vec<String> {
        let summary = &self.found.summary;
        let messages = self.reading.count_visible();
        let cwd = summary.cwd.as_ref().map(|cwd| sanitized(&cwd.to_string_lossy(), 500));
        let spending = self.found.spending();
        let noun = if messages == 1 { "message" } else { "messages" };
        let facts = [
            Some(summary.id.to_string()),
            Some(self.found.owner.name().to_owned()),
            cwd,
            Some(format!("{messages} {noun}")),
            timestamp::local(summary.modified),
            summary.is_archived.then(|| "archived".to_owned()),
            spending.map(|spending| format!("{} tokens", grouped(tokens(&spending)))),
            spending.map(|spending| format!("cost {}", cost(&spending))),
        ];
        facts.into_iter().flatten().collect()
    }

    /// Passes on the entries; results follow their calls.
    fn each(&self, take: &mut dyn FnMut(Item<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
        let compaction = self.reading.compaction();
        let removed = compaction.map(|compaction| compaction.removed);
        let summary = compaction.map_or("", |compaction| compaction.summary.summary.as_str());
        let mut count = 0;
        let mut speaker = None;
        for message in self.reading.messages() {
            let message = message.map_err(explained)?;
            if removed == Some(count) {
                take(Item::Compacted(count, summary))?;
            }
            count += 1;
            // results follow their calls
            if !is_visible(&message) || message.role == Role::Tool {
                continue;
            }
            if speaker != Some(message.role) {
                speaker = Some(message.role);
                take(Item::Speaker(message.role))?;
            }
            for content in &message.content {
                if let Some(item) = self.item(content)? {
                    take(item)?;
                }
            }
        }
        if removed == Some(count) {
            take(Item::Compacted(count, summary))?;
        }
        Ok(())
    }

    fn item<'a>(&self, content: &'a Content) -> Result<Option<Item<'a>>, Failure> {
        Ok(Some(match content {
            Content::Text(text) if text.trim().is_empty() => return Ok(None),
            Content::Text(text) => Item::Text(text),
            Content::Thinking(thinking) => Item::Thinking(&thinking.text),
            Content::ToolUse(call) => {
                let result = self.reading.result(&call.id).map_err(explained)?;
                let readable = |parts: &[Part], is_error| readable(call, &text_of(parts), is_error);
                let result = result.map(|(parts, is_error)| (readable(&parts, is_error), is_error));
                Item::Call { call, result }
            }
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
            Content::ToolResult { .. } => return Ok(None),
        }))
    }
}

pub(super) fn is_visible(message: &Message) -> bool {
    message.visibility != Visibility::LlmOnly
}

/// Returns the text of a result.
pub(super) fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Image { media_type, data } => describe_attachment("image", media_type, data),
        Part::Document(media) => describe_attachment("document", &media.media_type, &media.data),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn describe_attachment(what: &str, media_type: &str, base64: &str) -> String {
    format!("[{what}, {}, {} kB]", sanitized(media_type, 60), base64.len() * 3 / 4 / 1000)
}

/// Renders a tool call in one line: the tool and its subject.
pub(super) fn call_line(call: &ToolUse) -> (String, String) {
    let telling = SUBJECT_FIELDS.iter().find_map(|field| match call.input.get(*field)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => Some(list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
        Value::Null => None,
        other => Some(other.to_string()),
    });
    let telling = telling.or_else(|| patched_files(call));
    let about = telling.unwrap_or_else(|| {
        if call.input.is_empty() || call.input.contains_key(TODOS) {
            String::new()
        } else {
            Value::Object(call.input.clone()).to_string()
        }
    });
    (sanitized(&call.name, 60), sanitized(&about, MAX_CALL_LENGTH))
}

/// Returns the files of a patch.
fn patched_files(call: &ToolUse) -> Option<String> {
    let patch = call.input.get("input")?.as_str().filter(|text| text.starts_with("*** Begin Patch"))?;
    Some(view::patched(patch))
}

/// Returns a result for people: a change as its lines, a to-do list as its steps, everything else as it is.
fn readable(call: &ToolUse, text: &str, is_error: bool) -> String {
    if is_error {
        return text.to_owned();
    }
    if let Some(todos) = call.input.get(TODOS) {
        return todos.as_str().map_or_else(|| steps(todos), str::to_owned);
    }
    let lines = view::change_lines(text);
    if lines.is_empty() { text.to_owned() } else { lines }
}

/// Returns the steps of a to-do list in its older form, one per line.
fn steps(todos: &Value) -> String {
    let lines = todos.as_array().into_iter().flatten().map(|step| {
        let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default();
        format!("[{}] {}", text("status"), text("content"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns all tokens, cached or not.
fn tokens(spending: &Spending) -> u64 {
    let usage = spending.usage;
    [usage.input, usage.cache_read, usage.cache_write, usage.output].into_iter().fold(0, u64::saturating_add)
}

/// Lines without control characters.
fn clean_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| sanitized(&line.replace('\t', "    "), usize::MAX).trim_end().to_owned())
}

#[cfg(test)]
mod tests;
