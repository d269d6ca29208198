//! The events of a turn, in order.

use std::sync::Arc;

use musher_wire::{
    ChildSessionAvailable, DroidWorkingState, ErrorNotification, Json, McpAuthCompleted, McpAuthRequired,
    McpStatusChanged, Message, PermissionResolved, SessionNotification, SessionSettings, SessionTitleUpdated,
    ToolExecutionPhaseChanged, ToolProgressUpdate,
};

use crate::{
    HookRun, PendingPermission, PendingQuestion, Retry, SessionUsage, TextDelta, ThinkingDelta, ToolCall,
    ToolOutcome, TurnResult,
};

/// An event of a turn.
///
/// A plain stream has the complete events, up to and including [`Event::Result`], which is always the last one. With
/// [`Prompt::partial`](crate::Prompt::partial) it also has those marked "partial". A clone of a pending request is the same request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A message of the assistant is complete.
    Assistant(Arc<Message>),
    /// A message of the user: the echo of the prompt, or a message that the agent added.
    User(Arc<Message>),
    /// A note of the system to the user, such as why the model failed.
    System(Arc<Message>),
    /// The model calls a tool.
    ToolCall(Box<ToolCall>),
    /// A tool call has its result.
    ToolResult(ToolOutcome),
    /// The agent asks whether tool calls may run. Only with [`Prompt::ask_on_stream`](crate::Prompt::ask_on_stream); dropping it denies them.
    Permission(PendingPermission),
    /// The agent asks the user something. Only with [`Prompt::ask_on_stream`](crate::Prompt::ask_on_stream); dropping it declines.
    Question(PendingQuestion),
    /// A command of a hook began or ended.
    Hook(Box<HookRun>),
    /// An error occurred. The turn may still succeed.
    Error(Box<ErrorNotification>),
    /// The agent retries the request to the model.
    Retry(Retry),
    /// All deltas of this message so far are void; later ones replace them.
    Retracted {
        /// The message.
        message_id: String,
    },
    /// A request could not be answered as intended, so it was denied: a handler failed or took too long, or the answer was not offered.
    HandlerFailed {
        /// The cause.
        reason: String,
    },
    /// Events of the turn are missing: the connection to a daemon that does not replay them was lost, or the reader was too slow.
    /// The messages and results that follow are complete; only pieces of them are missing.
    Gap,
    /// The turn is over. This is the last event.
    Result(Box<TurnResult>),

    /// Partial: a piece of the answer.
    TextDelta(TextDelta),
    /// Partial: a piece of the model's reasoning.
    ThinkingDelta(ThinkingDelta),
    /// Partial: a text or thought is complete.
    BlockComplete {
        /// The message.
        message_id: String,
        /// The index of the block in the message.
        block_index: u64,
    },
    /// Partial: a tool call while the model writes it, at first without its input.
    ToolCallDelta(Box<ToolCall>),
    /// Partial: the status of a tool call changed.
    ToolPhase(ToolExecutionPhaseChanged),
    /// Partial: a running tool reports progress.
    ToolProgress(Box<ToolProgressUpdate>),
    /// Partial: the agent's working state changed.
    State(DroidWorkingState),
    /// Partial: the token counts of the session changed.
    Usage(Box<SessionUsage>),
    /// Partial: a permission request was settled.
    PermissionResolved(PermissionResolved),
    /// Partial: the settings changed; these are all of them.
    Settings(Box<SessionSettings>),
    /// Partial: the title changed.
    Title(SessionTitleUpdated),
    /// Partial: the status of MCP servers changed.
    McpStatus(Box<McpStatusChanged>),
    /// Partial: an MCP server requires a login.
    McpAuthRequired(Box<McpAuthRequired>),
    /// Partial: a login ended.
    McpAuthCompleted(McpAuthCompleted),
    /// Partial: a subagent has a session of its own.
    ChildSession(Box<ChildSessionAvailable>),
    /// Partial: any other notification, including those that this version of the crate does not know.
    Other(Box<SessionNotification>),
    /// Partial: a notification that cannot be read.
    Unreadable {
        /// Its content.
        params: Json,
        /// The reason why it cannot be read.
        reason: String,
    },
}

impl Event {
    /// Returns whether the event is in partial streams only.
    pub fn is_partial(&self) -> bool {
        !matches!(
            self,
            Self::Assistant(_)
                | Self::User(_)
                | Self::System(_)
                | Self::ToolCall(_)
                | Self::ToolResult(_)
                | Self::Permission(_)
                | Self::Question(_)
                | Self::Hook(_)
                | Self::Error(_)
                | Self::Retry(_)
                | Self::Retracted { .. }
                | Self::HandlerFailed { .. }
                | Self::Gap
                | Self::Result(_)
        )
    }

    /// Joins `next` to this event if both are deltas of one block; returns it if not.
    pub(crate) fn absorb(&mut self, next: Self) -> Option<Self> {
        match (self, next) {
            (Self::TextDelta(ours), Self::TextDelta(next))
                if ours.message_id == next.message_id && ours.block_index == next.block_index =>
            {
                ours.text.push_str(&next.text);
                None
            }
            (Self::ThinkingDelta(ours), Self::ThinkingDelta(next))
                if ours.message_id == next.message_id && ours.block_index == next.block_index =>
            {
                ours.text.push_str(&next.text);
                None
            }
            (_, next) => Some(next),
        }
    }
}
