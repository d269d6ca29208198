//! One request to a model as the matchers see it, whichever vendor's format it came in.
//!
//! [`History`] is where the formats meet: each reader feeds it the conversation item by item, and it does the
//! counting once. It knows no JSON.

use std::collections::HashMap;

use serde::Serialize;

use crate::Api;

/// One request to a model.
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
/// // In process there is no body to read:
/// let call = Call { prompt: "Hello".to_owned(), ..Call::default() };
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Call {
    /// The format the request came in.
    pub api: Api,
    /// The model asked for.
    pub model: String,
    /// All system and developer text.
    pub system: String,
    /// What the user wrote last, without system reminders.
    pub prompt: String,
    /// Which user turn of the conversation this is, from 1.
    pub turn: u32,
    /// Which model call of that turn this is, from 1.
    pub call: u32,
    /// Tool results the model has not seen yet: those after its last message.
    pub tool_results: Vec<ToolResult>,
    /// Names of the tools offered.
    pub tools: Vec<String>,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// Whether a stream is to end with the usage (only chat completions ask).
    pub include_usage: bool,
    /// Whether reasoning is to come with encrypted content (only responses ask).
    pub encrypted_reasoning: bool,
    /// Characters of conversation, from which input tokens are estimated.
    pub input_chars: u64,
}

impl Default for Call {
    /// The first call of a conversation in which nothing was said.
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

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolResult {
    /// The tool, when the call it answers is part of the conversation.
    pub tool: Option<String>,
    /// All text of the result.
    pub text: String,
}

/// Counts turns and calls while a conversation is read from its beginning.
///
/// A *turn* begins where the user writes after the model (or first of all). A *call* is a run of things the model
/// said: a vendor may split one answer into several items, so runs are counted, not items.
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

    /// Text in a message of the user. Reminders which agents put there are not the user's words.
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

    /// Something the model said.
    pub(crate) fn model(&mut self, text: &str) {
        self.count(text);
        if self.last != Last::Model {
            self.runs += 1;
            self.tool_results.clear();
        }
        self.last = Last::Model;
    }

    /// A tool call the model made.
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

/// The text outside `<system-reminder>` elements, trimmed.
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
    fn reminders_are_not_the_users_words() {
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
    fn results_the_model_has_seen_are_forgotten() {
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
