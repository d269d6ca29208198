//! What a model says, piece by piece, in no vendor's words.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ErrorClass, Thinking, ToolUse};

/// One thing that happens in an answer.
///
/// An answer ends with [`ModelEvent::Finish`], or with an error. Complete tool calls come only once the vendor has said
/// that the answer is over: what was cut off is never reported as a call that could be run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// A piece of text.
    TextDelta(String),
    /// A piece of thinking.
    ThinkingDelta(String),
    /// A block of thinking is complete, with what is needed to send it back.
    ThinkingEnd(Thinking),
    /// A tool call begins. To be shown, not to be run.
    ToolStart {
        /// The how-manieth call of the answer, from 0.
        index: usize,
        /// The id of the call; the complete call may have another if the vendor used one twice.
        id: String,
        /// The tool.
        name: String,
    },
    /// A piece of the JSON text of a call's arguments. To be shown, not to be run.
    ToolArguments {
        /// Which call.
        index: usize,
        /// The piece.
        delta: String,
    },
    /// A complete call, to be run. Comes after everything else was said.
    ToolCall(ToolCall),
    /// The token counts of the whole answer.
    Usage(Usage),
    /// The attempt failed and there will be another. What this answer said so far counts for nothing.
    Retry(Retry),
    /// The answer is complete.
    Finish(FinishReason),
}

/// A complete tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The how-manieth call of the answer, from 0.
    pub index: usize,
    /// The id, unique within the answer.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, if they can be read.
    pub arguments: Arguments,
}

impl ToolCall {
    /// The call as part of the conversation. Arguments that cannot be read become empty: vendors refuse anything else.
    pub fn to_use(&self) -> ToolUse {
        let input = match &self.arguments {
            Arguments::Object(input) => input.clone(),
            Arguments::Malformed { .. } => Map::new(),
        };
        ToolUse { id: self.id.clone(), name: self.name.clone(), input }
    }
}

/// The arguments of a call. They are read as they are: what is malformed is not repaired.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// A JSON object.
    Object(Map<String, Value>),
    /// Something else.
    Malformed {
        /// As it came.
        text: String,
        /// What is wrong with it, for the model to read.
        problem: String,
    },
}

/// Token counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens that came from no cache.
    pub input: u64,
    /// Output tokens, thinking included.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
    /// Output tokens that were thinking, as far as the vendor tells.
    pub thinking: u64,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It ran into the limit of output tokens, or of its context.
    Length,
    /// It waits for tool results.
    ToolCalls,
    /// It refused, or a filter did.
    ContentFilter,
    /// Something else, in the vendor's word.
    Other(String),
}

/// An attempt failed and there will be another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// The how-manieth retry this is, from 1.
    pub attempt: u32,
    /// What was wrong.
    pub reason: ErrorClass,
    /// The vendor's words for it.
    pub message: String,
    /// How long until the next attempt.
    pub delay: Duration,
    /// Whether something was already said that now has to be taken back.
    pub retracts: bool,
}
