//! A reply: its steps, the calls it answers, its timing and its token counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::number::some_positive;
use super::order::steps;
use super::{Cut, Hang, HttpError, Pieces, Step, ToolCall, When};

/// An answer of the scripted model, and the calls it answers.
///
/// ```
/// use musher_rehearse::{HttpError, Reply, when};
/// use serde_json::json;
///
/// Reply::text("Hello");
/// Reply::thinking("The user wants a list.").and_tool("LS", json!({"path": "."})).when(when().call(1));
/// Reply::error(HttpError::new(429).retry_after_seconds(1)).times(2);
/// Reply::text(["Hel", "lo"]).and_reset();
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Reply {
    /// A name for recordings and error messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The calls this reply answers; all if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when: When,
    /// The number of calls this reply answers before it is used up; unlimited if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some_positive")]
    #[schemars(range(min = 1))]
    pub times: Option<u32>,
    /// The steps, in order. An empty list is an empty answer.
    #[serde(deserialize_with = "steps")]
    pub steps: Vec<Step>,
    /// Token counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub usage: Usage,
    /// The delays of the answer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay: Delay,
    /// The finish reason; if absent, `tool_calls` if tools are called, else `stop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Reply {
    /// Creates a reply without content; add to it with the `and_` methods.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Creates a reply with text: a string, or an array of strings for exact pieces of the stream.
    pub fn text(text: impl Into<Pieces>) -> Self {
        Self::empty().and_text(text)
    }

    /// Creates a reply with reasoning.
    pub fn thinking(text: impl Into<Pieces>) -> Self {
        Self::empty().and_thinking(text)
    }

    /// Creates a reply with a tool call. Arguments that are not an object are sent as their JSON text.
    pub fn tool(name: impl Into<String>, arguments: Value) -> Self {
        Self::empty().and_tool(name, arguments)
    }

    /// Creates a reply that is an HTTP error.
    pub fn error(error: HttpError) -> Self {
        Self::empty().and(Step::Error(error))
    }

    /// Creates a reply that hangs before or after the response headers.
    pub fn hang(hang: Hang) -> Self {
        Self::empty().and(Step::Hang(hang))
    }

    /// Adds a step.
    #[must_use]
    pub fn and(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds text.
    #[must_use]
    pub fn and_text(self, text: impl Into<Pieces>) -> Self {
        self.and(Step::Text(text.into()))
    }

    /// Adds reasoning.
    #[must_use]
    pub fn and_thinking(self, text: impl Into<Pieces>) -> Self {
        self.and(Step::Thinking(text.into()))
    }

    /// Adds a tool call.
    #[must_use]
    pub fn and_tool(self, name: impl Into<String>, arguments: Value) -> Self {
        self.and(Step::Tool(ToolCall::new(name, arguments)))
    }

    /// Adds an error inside the stream.
    #[must_use]
    pub fn and_error(self, error: HttpError) -> Self {
        self.and(Step::Error(error.in_stream()))
    }

    /// Adds a close of the connection before the answer is complete.
    #[must_use]
    pub fn and_close(self) -> Self {
        self.and(Step::Cut(Cut::Close))
    }

    /// Adds a reset of the connection.
    #[must_use]
    pub fn and_reset(self) -> Self {
        self.and(Step::Cut(Cut::Reset))
    }

    /// Adds a hang.
    #[must_use]
    pub fn and_hang(self) -> Self {
        self.and(Step::Hang(Hang::AfterHeaders))
    }

    /// Adds a pause, in milliseconds.
    #[must_use]
    pub fn and_wait_ms(self, milliseconds: u64) -> Self {
        self.and(Step::WaitMs(milliseconds))
    }

    /// Limits the reply to these calls.
    #[must_use]
    pub fn when(self, when: When) -> Self {
        Self { when, ..self }
    }

    /// Limits the reply to a number of calls.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Sets the name for recordings and messages.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Sets the token counts.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// Sets the delays before the first byte and between pieces, in milliseconds.
    #[must_use]
    pub fn delay_ms(self, first_ms: u64, between_ms: u64) -> Self {
        Self { delay: Delay { first_ms, between_ms }, ..self }
    }

    /// Sets the finish reason.
    #[must_use]
    pub fn finish(self, finish: Finish) -> Self {
        Self { finish: Some(finish), ..self }
    }
}

/// Token counts of one answer. Absent counts are estimated at four characters per token; absent cache counts are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Input tokens that came from no cache. The `OpenAI` formats report the sum with both cache counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Output tokens, including reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Input tokens read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Input tokens written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation: Option<u64>,
    /// Output tokens for reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

/// The delays of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// Before the first byte, in milliseconds.
    #[serde(default)]
    pub first_ms: u64,
    /// Before every further piece of text, thinking or arguments, in milliseconds.
    #[serde(default)]
    pub between_ms: u64,
}

/// The finish reason; each API sends its own word for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// The answer is complete.
    Stop,
    /// The limit of output tokens was reached.
    Length,
    /// The model waits for tool results.
    ToolCalls,
    /// The model or a filter refused.
    ContentFilter,
}
