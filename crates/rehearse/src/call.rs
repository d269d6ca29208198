//! One model request as the matchers see it, independent of the vendor's format.
//!
//! The formats share [`History`]: each reader feeds it the conversation item by item, and it counts turns and calls. It knows no JSON.

use std::collections::HashMap;

use serde::Serialize;

use crate::Api;

/// One model request.
///
/// ```
/// use musher_rehearse::{Api, Call};
/// use serde_json::json;
///
/// let call = Api::Anthropic.read(&json!({
///     "model": "claude-opus-5-5",
///     "messages": [{"role": "user", "content": "Hello"}],
/// }))?;
/// assert_eq!((call.turn, call.call, call.prompt.as_str()), (1, 1, "Hello"));
///
/// // In process there is no request body:
/// let call = Call { prompt: "Hello".to_owned(), ..Call::default() };
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Call {
    /// The API of the request.
    pub api: Api,
    /// The requested model.
    pub model: String,
    /// All system and developer text.
    pub system: String,
    /// The last text of the user, without system reminders.
    pub prompt: String,
    /// The number of the user turn in the conversation, from 1.
    pub turn: u32,
    /// The number of the model call within that turn, from 1.
    pub call: u32,
    /// Tool results that the model has not seen yet: those after its last message.
    pub tool_results: Vec<ToolResult>,
    /// The names of the offered tools.
    pub tools: Vec<String>,
    /// Whether the client requested a stream.
    pub stream: bool,
    /// Whether the stream must end with the usage (chat completions only).
    pub include_usage: bool,
    /// Whether reasoning must include encrypted content (responses only).
    pub encrypted_reasoning: bool,
    /// The number of characters of the conversation, from which input tokens are estimated.
    pub input_chars: u64,
}

impl Default for Call {
    /// Returns the first call of an empty conversation.
    fn default() -> Self {
        Self {
            api: Api::OpenaiChat,
            model: "rehearsal".to_owned(),
            system: String::new(),
            prompt: String::new(),
            turn: 1,
            call: 1,
            tool_results: Vec::new(),
            tools: Vec::new(),
            stream: true,
            include_usage: true,
            encrypted_reasoning: false,
            input_chars: 0,
        }
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolResult {
    /// The name of the tool, if its call is part of the conversation.
    pub tool: Option<String>,
    /// The text of the result.
    pub text: String,
}

/// Counts turns and calls while a conversation is read from its start.
///
/// A *turn* starts where the user writes after the model, or first of all. A *call* is a run of consecutive model items: a vendor may split
/// one answer into several items, so runs are counted, not items.
#[derive(Debug, Default)]
pub(crate) struct History {
    system: Vec<String>,
    prompt: String,
    turns: u32,
    runs: u32,
    tool_results: Vec<ToolResult>,
    tool_names: HashMap<String, String>,
    chars: u64,
    last: Last,
}

#[derive(Debug, Default, PartialEq)]
enum Last {
    #[default]
    Nothing,
    User,
    Model,
    Tool,
}

impl History {
    pub(crate) fn system(&mut self, text: &str) {
        self.count(text);
        if !text.is_empty() {
            self.system.push(text.to_owned());
        }
    }

    /// Adds text of a user message. Reminders that agents insert are not part of the prompt.
    pub(crate) fn user(&mut self, text: &str) {
        self.count(text);
        let written = without_reminders(text);
        if written.is_empty() {
            return;
        }
        if self.last == Last::User {
            self.prompt.push('\n');
            self.prompt.push_str(&written);
        } else {
            self.turns += 1;
            self.prompt = written;
        }
        self.runs = 0;
        self.last = Last::User;
    }

    /// Adds text of the model.
    pub(crate) fn model(&mut self, text: &str) {
        self.count(text);
        if self.last != Last::Model {
            self.runs += 1;
            self.tool_results.clear();
        }
        self.last = Last::Model;
    }

    /// Adds a tool call of the model.
    pub(crate) fn tool_call(&mut self, id: &str, name: &str, arguments: &str) {
        self.model(arguments);
        self.tool_names.insert(id.to_owned(), name.to_owned());
    }

    pub(crate) fn tool_result(&mut self, id: &str, text: String) {
        self.count(&text);
        let tool = self.tool_names.get(id).cloned();
        self.tool_results.push(ToolResult { tool, text });
        self.last = Last::Tool;
    }

    pub(crate) fn into_call(self, api: Api, model: String) -> Call {
        Call {
            api,
            model,
            system: self.system.join("\n"),
            prompt: self.prompt,
            turn: self.turns.max(1),
            call: self.runs + 1,
            tool_results: self.tool_results,
            input_chars: self.chars,
            tools: Vec::new(),
            stream: false,
            include_usage: false,
            encrypted_reasoning: false,
        }
    }

    fn count(&mut self, text: &str) {
        self.chars += text.chars().count() as u64;
    }
}

/// Returns the text outside of `<system-reminder>` elements, trimmed.
fn without_reminders(text: &str) -> String {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    let mut kept = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(OPEN) {
        let Some(length) = rest[start..].find(CLOSE) else {
            break;
        };
        kept.push_str(&rest[..start]);
        rest = &rest[start + length + CLOSE.len()..];
    }
    kept.push_str(rest);
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_are_not_part_of_the_prompt() {
        assert_eq!(
            without_reminders(
                "<system-reminder>x</system-reminder>\nHi <system-reminder>y</system-reminder>"
            ),
            "Hi"
        );
        assert_eq!(without_reminders("an open <system-reminder> stays"), "an open <system-reminder> stays");
    }

    #[test]
    fn user_messages_in_a_row_are_one_turn() {
        let mut history = History::default();
        history.user("context");
        history.user("question");
        history.model("answer");
        history.user("<system-reminder>note</system-reminder>");
        history.user("again");
        let call = history.into_call(Api::OpenaiChat, String::new());
        assert_eq!((call.turn, call.call, call.prompt.as_str()), (2, 1, "again"));
    }

    #[test]
    fn tool_results_of_earlier_rounds_are_dropped() {
        let mut history = History::default();
        history.user("go");
        history.tool_call("a", "Read", "{}");
        history.tool_call("b", "Grep", "{}");
        history.tool_result("a", "old".to_owned());
        history.tool_call("c", "Edit", "{}");
        history.tool_result("c", "new".to_owned());
        let call = history.into_call(Api::OpenaiChat, String::new());
        assert_eq!(call.call, 3);
        let expected = ToolResult { tool: Some("Edit".to_owned()), text: "new".to_owned() };
        assert_eq!(call.tool_results, [expected]);
    }
}
