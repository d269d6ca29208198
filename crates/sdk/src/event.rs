//! What a turn tells while it runs.

use std::sync::Arc;

use musher_wire::{
    AssistantTextDelta, ChildSessionAvailable, Count, DroidWorkingState, ErrorNotification, HookEventName,
    Json, LlmRetry, McpAuthCompleted, McpAuthRequired, McpStatusChanged, Message, PermissionResolved,
    SessionNotification, SessionSettings, SessionTitleUpdated, SessionTokenUsageChanged, ThinkingTextDelta,
    ToolExecutionPhaseChanged, ToolProgressUpdate, ToolResultContent, ToolUse,
};

use crate::TurnResult;

/// One piece of a turn, in the order it happened.
///
/// A plain stream has the whole pieces, up to and including [`Event::Result`], which is always the last. With
/// [`Prompt::partial`](crate::Prompt::partial) there are the small ones, too.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A message of the assistant is complete.
    Assistant(Arc<Message>),
    /// A message of the user: the echo of ours, or one the agent made.
    User(Arc<Message>),
    /// A note of the system to the user, such as why the model failed.
    System(Arc<Message>),
    /// The model calls a tool.
    ToolCall(Box<ToolUse>),
    /// What came of a tool call.
    ToolResult(ToolOutcome),
    /// One command of a hook began or ended.
    Hook(Box<Hook>),
    /// Something went wrong. The turn may still succeed.
    Error(Box<ErrorNotification>),
    /// The model is asked again.
    Retry(LlmRetry),
    /// All pieces of this message so far are void; what comes next replaces them.
    Retracted {
        /// The message.
        message_id: String,
    },
    /// A permission or question handler failed, so the agent was told no.
    HandlerFailed {
        /// What happened.
        reason: String,
    },
    /// The turn is over. Nothing comes after it.
    Result(Box<TurnResult>),

    /// Partial: a piece of the answer.
    TextDelta(AssistantTextDelta),
    /// Partial: a piece of thought.
    ThinkingDelta(ThinkingTextDelta),
    /// Partial: a text or thought is complete.
    BlockComplete {
        /// The message.
        message_id: String,
        /// Which block of it.
        block_index: u64,
    },
    /// Partial: a tool call as the model writes it, at first without its input.
    ToolCallDelta(Box<ToolUse>),
    /// Partial: a tool call moves on.
    ToolPhase(ToolExecutionPhaseChanged),
    /// Partial: a running tool tells something.
    ToolProgress(Box<ToolProgressUpdate>),
    /// Partial: the agent does something else now.
    State(DroidWorkingState),
    /// Partial: the token counts of the session.
    Usage(Box<SessionTokenUsageChanged>),
    /// Partial: a permission request was settled.
    PermissionResolved(PermissionResolved),
    /// Partial: the settings as they are now.
    Settings(Box<SessionSettings>),
    /// Partial: the title changed.
    Title(SessionTitleUpdated),
    /// Partial: MCP servers came or went.
    McpStatus(Box<McpStatusChanged>),
    /// Partial: an MCP server wants a login.
    McpAuthRequired(Box<McpAuthRequired>),
    /// Partial: a login ended.
    McpAuthCompleted(McpAuthCompleted),
    /// Partial: a subagent has a session of its own.
    ChildSession(Box<ChildSessionAvailable>),
    /// Partial: anything else, also what this version of the crate does not know.
    Other(Box<SessionNotification>),
    /// Partial: a notification that does not have the shape it promises.
    Unreadable {
        /// Its content.
        params: Json,
        /// What is wrong with it.
        reason: String,
    },
}

impl Event {
    /// Whether it is only in partial streams.
    pub fn is_partial(&self) -> bool {
        !matches!(
            self,
            Self::Assistant(_)
                | Self::User(_)
                | Self::System(_)
                | Self::ToolCall(_)
                | Self::ToolResult(_)
                | Self::Hook(_)
                | Self::Error(_)
                | Self::Retry(_)
                | Self::Retracted { .. }
                | Self::HandlerFailed { .. }
                | Self::Result(_)
        )
    }

    /// Joins `next` to this if both are pieces of one block; gives it back if not.
    pub(crate) fn absorb(&mut self, next: Self) -> Option<Self> {
        match (self, next) {
            (Self::TextDelta(ours), Self::TextDelta(next))
                if ours.message_id == next.message_id && ours.block_index == next.block_index =>
            {
                ours.text_delta.push_str(&next.text_delta);
                None
            }
            (Self::ThinkingDelta(ours), Self::ThinkingDelta(next))
                if ours.message_id == next.message_id && ours.block_index == next.block_index =>
            {
                ours.text_delta.push_str(&next.text_delta);
                None
            }
            (_, next) => Some(next),
        }
    }
}

/// What came of a tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The call it belongs to.
    pub tool_use_id: String,
    /// The tool, if the call was seen.
    pub tool_name: Option<String>,
    /// What the tool said.
    pub content: ToolResultContent,
    /// Whether it failed.
    pub is_error: bool,
}

impl ToolOutcome {
    /// What came of a call, for tests of whoever reads events.
    pub fn new(tool_use_id: impl Into<String>, text: impl Into<String>, is_error: bool) -> Self {
        let content = ToolResultContent::Text(text.into());
        Self { tool_use_id: tool_use_id.into(), tool_name: None, content, is_error }
    }

    /// What the tool said, as text; empty if it is a picture.
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

/// One command of a hook.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Hook {
    /// The run of hooks it belongs to.
    pub id: String,
    /// When hooks run.
    pub event: HookEventName,
    /// What the hook is for, such as a tool.
    pub matcher: Option<String>,
    /// The tool call it runs for.
    pub tool_call_id: Option<String>,
    /// The command.
    pub command: String,
    /// How it stands.
    pub status: HookProgress,
}

/// How a command of a hook stands.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HookProgress {
    /// It began.
    Started {
        /// How many seconds it may take.
        timeout: Option<Count>,
    },
    /// It ended.
    Ended {
        /// Whether the agent counts it as failed.
        is_error: bool,
        /// Its exit code.
        exit_code: Option<i64>,
        /// What it wrote.
        stdout: String,
        /// What it wrote as errors.
        stderr: String,
    },
}
