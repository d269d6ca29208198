//! A reply: its steps, the calls it answers, and how the answer is timed and accounted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::number::some_positive;
use super::order::steps;
use super::{Cut, Hang, HttpError, Pieces, Step, ToolCall, When};

/// What the scripted model says to a call, and to which calls.
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
    /// A name for records and error messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The calls this answers; all if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when: When,
    /// How many calls this answers before it is used up; any number if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some_positive")]
    #[schemars(range(min = 1))]
    pub times: Option<u32>,
    /// What is said, in order. An empty list is an empty answer.
    #[serde(deserialize_with = "steps")]
    pub steps: Vec<Step>,
    /// Token counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub usage: Usage,
    /// How slow the answer is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay: Delay,
    /// Why the model stopped; `tool_calls` if tools are called, else `stop`, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Reply {
    /// An answer without any content; add to it with the `and_` methods.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Text: a string, or an array of strings for exact pieces of the stream.
    pub fn text(text: impl Into<Pieces>) -> Self {
        Self::empty().and_text(text)
    }

    /// Reasoning.
    pub fn thinking(text: impl Into<Pieces>) -> Self {
        Self::empty().and_thinking(text)
    }

    /// A tool call. Arguments that are no object are sent as their JSON text.
    pub fn tool(name: impl Into<String>, arguments: Value) -> Self {
        Self::empty().and_tool(name, arguments)
    }

    /// An HTTP error.
    pub fn error(error: HttpError) -> Self {
        Self::empty().and(Step::Error(error))
    }

    /// Silence: before or after the response headers.
    pub fn hang(hang: Hang) -> Self {
        Self::empty().and(Step::Hang(hang))
    }

    /// Then this step.
    #[must_use]
    pub fn and(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Then text.
    #[must_use]
    pub fn and_text(self, text: impl Into<Pieces>) -> Self {
        self.and(Step::Text(text.into()))
    }

    /// Then reasoning.
    #[must_use]
    pub fn and_thinking(self, text: impl Into<Pieces>) -> Self {
        self.and(Step::Thinking(text.into()))
    }

    /// Then a tool call.
    #[must_use]
    pub fn and_tool(self, name: impl Into<String>, arguments: Value) -> Self {
        self.and(Step::Tool(ToolCall::new(name, arguments)))
    }

    /// Then an error inside the stream.
    #[must_use]
    pub fn and_error(self, error: HttpError) -> Self {
        self.and(Step::Error(error.in_stream()))
    }

    /// Then the connection is closed although the answer is not complete.
    #[must_use]
    pub fn and_close(self) -> Self {
        self.and(Step::Cut(Cut::Close))
    }

    /// Then the connection is reset.
    #[must_use]
    pub fn and_reset(self) -> Self {
        self.and(Step::Cut(Cut::Reset))
    }

    /// Then silence.
    #[must_use]
    pub fn and_hang(self) -> Self {
        self.and(Step::Hang(Hang::AfterHeaders))
    }

    /// Then a pause.
    #[must_use]
    pub fn and_wait_ms(self, milliseconds: u64) -> Self {
        self.and(Step::WaitMs(milliseconds))
    }

    /// Only for these calls.
    #[must_use]
    pub fn when(self, when: When) -> Self {
        Self { when, ..self }
    }

    /// For at most so many calls.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Under this name in records and messages.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// With these token counts.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// With a pause before the first byte and between pieces, in milliseconds.
    #[must_use]
    pub fn delay_ms(self, first_ms: u64, between_ms: u64) -> Self {
        Self { delay: Delay { first_ms, between_ms }, ..self }
    }

    /// With this finish reason.
    #[must_use]
    pub fn finish(self, finish: Finish) -> Self {
        Self { finish: Some(finish), ..self }
    }
}

/// Token counts of one answer. What is not given is estimated at four characters a token, and caches count 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Input tokens that came from no cache. The `OpenAI` formats report the sum with both cache numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Output tokens, reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Input tokens read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Input tokens written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation: Option<u64>,
    /// Output tokens that were reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

/// How slow an answer is.
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

/// Why the model stopped, in each vendor's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// It was done.
    Stop,
    /// It ran into the limit of output tokens.
    Length,
    /// It waits for tool results.
    ToolCalls,
    /// It refused, or a filter did.
    ContentFilter,
}
