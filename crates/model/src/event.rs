//! Events of a model's answer, independent of the vendor.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ErrorClass, Label, Thinking, ToolUse};

/// An event of an answer.
///
/// An answer ends with [`ModelEvent::Finish`] or with an error. Complete tool calls are reported only after the vendor has
/// ended the answer, so that a truncated call is never reported as complete.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// A fragment of text.
    TextDelta(String),
    /// A fragment of reasoning.
    ThinkingDelta(String),
    /// A reasoning block is complete, with the data needed to send it back.
    ThinkingEnd(Thinking),
    /// The text that follows is a block of its own, not a continuation of the text before.
    TextBreak,
    /// A field of the answer as a whole, which the vendor requires back.
    Label {
        /// The field.
        label: Label,
        /// Its value.
        value: String,
    },
    /// A part of the answer of an unknown kind, such as the call of a tool that the vendor runs. It is only sent back.
    Other(Value),
    /// Why the model refused. [`FinishReason::ContentFilter`] follows.
    Refusal(String),
    /// A tool call starts. For display; the call must not run yet.
    ToolStart {
        /// Index of the call in the answer, counted from 0.
        index: usize,
        /// Id of the call. The complete call has a different one if the vendor used this id twice.
        id: String,
        /// Name of the tool.
        name: String,
    },
    /// A fragment of the JSON text of a call's arguments. For display; the call must not run yet.
    ToolArguments {
        /// Index of the call in the answer, counted from 0.
        index: usize,
        /// The fragment.
        delta: String,
    },
    /// The vendor has signed the reasoning behind a call. Sent before the complete call.
    ToolSignature {
        /// Index of the call in the answer, counted from 0.
        index: usize,
        /// The signature.
        signature: String,
    },
    /// A complete tool call, ready to run. Sent after all text and reasoning.
    ToolCall(ToolCall),
    /// Token usage of the answer so far. Each one replaces the one before; the last comes before [`ModelEvent::Finish`], or before an
    /// error if the vendor has reported anything by then.
    Usage(Usage),
    /// The attempt failed and will be retried. All earlier events of this answer are void.
    Retry(Retry),
    /// The answer is complete.
    Finish(FinishReason),
}

/// A complete tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Index of the call in the answer, counted from 0.
    pub index: usize,
    /// Id of the call, unique within the answer.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
}

impl ToolCall {
    /// Returns the call as a part of the conversation. Malformed arguments become empty, because vendors reject anything else.
    pub fn to_use(&self) -> ToolUse {
        let input = match &self.arguments {
            Arguments::Object(input) => input.clone(),
            Arguments::Malformed { .. } => Map::new(),
        };
        ToolUse::new(self.id.clone(), self.name.clone(), input)
    }
}

/// The arguments of a call. Malformed arguments are not repaired.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// A JSON object.
    Object(Map<String, Value>),
    /// Not a JSON object.
    Malformed {
        /// The original text.
        text: String,
        /// Why the text is invalid, for the model to read.
        problem: String,
    },
}

/// Token usage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, without cached ones.
    pub input: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
    /// Those of `cache_write` that stay in the cache for an hour instead of the default time.
    #[serde(default)]
    pub cache_write_long: u64,
    /// Output tokens spent on reasoning; 0 if the vendor does not report them.
    pub thinking: u64,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is complete.
    Stop,
    /// The limit of output tokens was reached.
    Length,
    /// The conversation and the answer have filled the context window.
    ContextWindow,
    /// The vendor has paused a long answer, and continues it when it gets the answer back.
    Paused,
    /// The model waits for tool results.
    ToolCalls,
    /// The model refused, or a content filter blocked the answer.
    ContentFilter,
    /// Any other reason, as named by the vendor.
    Other(String),
}

/// A retry of a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Number of the retry, counted from 1.
    pub attempt: u32,
    /// Why the attempt failed.
    pub reason: ErrorClass,
    /// Message of the error.
    pub message: String,
    /// Delay before the next attempt.
    pub delay: Duration,
    /// Whether the failed attempt had emitted events, which must be retracted.
    pub retracts: bool,
}
