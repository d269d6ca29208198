//! The contents of the frequent events, as types of this crate.

use std::time::Duration;

use musher_wire as wire;
use musher_wire::{Count, HookEventName, Json, LlmRetryReason, ToolResultContent};

/// A piece of the answer's text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextDelta {
    /// The text to append.
    pub text: String,
    /// The id of the message.
    pub message_id: String,
    /// The index of the block in the message.
    pub block_index: u64,
}

impl TextDelta {
    /// Creates a delta, for tests of code that reads events.
    pub fn new(message_id: impl Into<String>, block_index: u64, text: impl Into<String>) -> Self {
        Self { text: text.into(), message_id: message_id.into(), block_index }
    }
}

impl From<wire::AssistantTextDelta> for TextDelta {
    fn from(delta: wire::AssistantTextDelta) -> Self {
        Self { text: delta.text_delta, message_id: delta.message_id, block_index: delta.block_index.get() }
    }
}

/// A piece of the model's reasoning.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThinkingDelta {
    /// The text to append.
    pub text: String,
    /// The id of the message.
    pub message_id: String,
    /// The index of the block in the message.
    pub block_index: u64,
}

impl ThinkingDelta {
    /// Creates a delta, for tests of code that reads events.
    pub fn new(message_id: impl Into<String>, block_index: u64, text: impl Into<String>) -> Self {
        Self { text: text.into(), message_id: message_id.into(), block_index }
    }
}

impl From<wire::ThinkingTextDelta> for ThinkingDelta {
    fn from(delta: wire::ThinkingTextDelta) -> Self {
        Self { text: delta.text_delta, message_id: delta.message_id, block_index: delta.block_index.get() }
    }
}

/// A tool call of the model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id of the call.
    pub id: String,
    /// The name of the tool, as the model knows it.
    pub name: String,
    /// The arguments, a JSON object.
    pub input: Json,
}

impl ToolCall {
    /// Creates a call, for tests of code that reads events.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: impl Into<Json>) -> Self {
        Self { id: id.into(), name: name.into(), input: input.into() }
    }
}

impl From<wire::ToolUse> for ToolCall {
    fn from(call: wire::ToolUse) -> Self {
        Self { id: call.id, name: call.name, input: call.input }
    }
}

/// The agent retries the request to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// Why the last attempt failed.
    pub reason: LlmRetryReason,
    /// The number of the attempt that failed, if the agent reports it.
    pub attempt: Option<u64>,
    /// The time until the retry, if the agent reports it.
    pub delay: Option<Duration>,
    /// The error of the failed attempt, if the agent reports it.
    pub message: Option<String>,
}

impl From<wire::LlmRetry> for Retry {
    fn from(retry: wire::LlmRetry) -> Self {
        Self {
            reason: retry.reason,
            attempt: retry.attempt.as_ref().map(Count::get),
            delay: retry.delay_ms.as_ref().map(|delay| Duration::from_millis(delay.get())),
            message: retry.message,
        }
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The id of the call.
    pub tool_use_id: String,
    /// The name of the tool, if the call was seen.
    pub tool_name: Option<String>,
    /// The output of the tool.
    pub content: ToolResultContent,
    /// Whether the call failed.
    pub is_error: bool,
}

impl ToolOutcome {
    /// Creates a result, for tests of code that reads events.
    pub fn new(tool_use_id: impl Into<String>, text: impl Into<String>, is_error: bool) -> Self {
        let content = ToolResultContent::Text(text.into());
        Self { tool_use_id: tool_use_id.into(), tool_name: None, content, is_error }
    }

    /// Returns the output as text; empty if it is a picture.
    pub fn text(&self) -> String {
        match &self.content {
            ToolResultContent::Text(text) => text.clone(),
            ToolResultContent::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(|block| match block {
                    musher_wire::ContentBlock::Text(block) => Some(block.text.as_str()),
                    _ => None,
                });
                texts.collect()
            }
            _ => String::new(),
        }
    }
}

/// One run of a command of a hook.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HookRun {
    /// The id that the commands of one event share.
    pub id: String,
    /// The event that the hook runs at.
    pub event: HookEventName,
    /// The pattern of the hook, such as the name of a tool.
    pub matcher: Option<String>,
    /// The tool call that the hook runs for.
    pub tool_call_id: Option<String>,
    /// The command line.
    pub command: String,
    /// The progress of the command.
    pub status: HookProgress,
}

/// The progress of a hook's command.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HookProgress {
    /// The command began.
    Started {
        /// The timeout of the command.
        timeout: Option<Duration>,
    },
    /// The command ended.
    Ended {
        /// Whether the agent counts it as failed.
        is_error: bool,
        /// The exit code.
        exit_code: Option<i64>,
        /// The standard output.
        stdout: String,
        /// The standard error.
        stderr: String,
    },
}
