//! Notifications of a session: `droid.session_notification`, tagged by `type`.

mod fast_path;
mod hook;
mod mcp;
mod mission;
mod session;
mod text;
mod tool;
mod turn;

pub(crate) use fast_path::{delta as fast_delta, leading_delta, plain};
pub use hook::*;
pub use mcp::*;
pub use mission::*;
pub use session::*;
pub use text::*;
pub use tool::*;
pub use turn::*;

use crate::object::{object, tagged};

object! {
    /// Parameters of the notification `droid.session_notification`.
    pub struct SessionNotificationParams {
        /// The notification itself.
        notification: SessionNotification = "notification",
    } optional {
        /// Id of the session. 0.225 sends it for most types, 0.99 and older never do.
        session_id: String = "sessionId",
    }
}

tagged! {
    /// A notification of a session.
    pub enum SessionNotification by "type" {
        /// The agent works, waits or is idle now.
        DroidWorkingStateChanged(DroidWorkingStateChanged) = "droid_working_state_changed",
        /// A message was added to the conversation.
        CreateMessage(Box<CreateMessage>) = "create_message",
        /// A piece of the model's answer.
        AssistantTextDelta(AssistantTextDelta) = "assistant_text_delta",
        /// A text block of the model's answer is complete.
        AssistantTextComplete(AssistantTextComplete) = "assistant_text_complete",
        /// A piece of the model's reasoning.
        ThinkingTextDelta(ThinkingTextDelta) = "thinking_text_delta",
        /// A block of reasoning is complete.
        ThinkingTextComplete(ThinkingTextComplete) = "thinking_text_complete",
        /// An incomplete answer is void, because its model request is retried.
        AssistantMessageRetracted(AssistantMessageRetracted) = "assistant_message_retracted",
        /// The model calls a tool. Sent again while its arguments grow.
        ToolCall(Box<ToolCall>) = "tool_call",
        /// A tool call waits, runs or has ended.
        ToolExecutionPhaseChanged(ToolExecutionPhaseChanged) = "tool_execution_phase_changed",
        /// Progress of a running tool.
        ToolProgressUpdate(Box<ToolProgressUpdate>) = "tool_progress_update",
        /// A tool is still running.
        ToolExecutionHeartbeat(ToolExecutionHeartbeat) = "tool_execution_heartbeat",
        /// The result of a tool call.
        ToolResult(ToolResult) = "tool_result",
        /// A permission request has a decision.
        PermissionResolved(PermissionResolved) = "permission_resolved",
        /// A turn ended.
        AgentTurnCompleted(Box<AgentTurnCompleted>) = "agent_turn_completed",
        /// The token counts of the session changed.
        SessionTokenUsageChanged(Box<SessionTokenUsageChanged>) = "session_token_usage_changed",
        /// The final answer in the requested output format.
        StructuredOutput(StructuredOutput) = "structured_output",
        /// Something failed.
        Error(Box<ErrorNotification>) = "error",
        /// A model request failed and is retried.
        LlmRetry(LlmRetry) = "llm_retry",
        /// Queued prompts will not be run.
        QueuedMessagesDiscarded(QueuedMessagesDiscarded) = "queued_messages_discarded",
        /// Settings of the session changed.
        SettingsUpdated(Box<SettingsUpdated>) = "settings_updated",
        /// The session has a new title.
        SessionTitleUpdated(SessionTitleUpdated) = "session_title_updated",
        /// The conversation was compacted.
        SessionCompacted(SessionCompacted) = "session_compacted",
        /// The working directory of the session changed.
        SessionWorkingDirectoryChanged(SessionWorkingDirectoryChanged) = "session_working_directory_changed",
        /// A subagent has a session of its own.
        ChildSessionAvailable(Box<ChildSessionAvailable>) = "child_session_available",
        /// A prompt that repeats started, ended or changed.
        LoopStateChanged(LoopStateChanged) = "loop_state_changed",
        /// The state of the MCP servers changed.
        McpStatusChanged(Box<McpStatusChanged>) = "mcp_status_changed",
        /// The user must log in at an MCP server.
        McpAuthRequired(Box<McpAuthRequired>) = "mcp_auth_required",
        /// A login at an MCP server ended.
        McpAuthCompleted(McpAuthCompleted) = "mcp_auth_completed",
        /// Hooks are running.
        HookExecutionStarted(Box<HookExecutionStarted>) = "hook_execution_started",
        /// Hooks have run.
        HookExecutionCompleted(Box<HookExecutionCompleted>) = "hook_execution_completed",
        /// A mission has a new state.
        MissionStateChanged(MissionStateChanged) = "mission_state_changed",
        /// The features of a mission changed.
        MissionFeaturesChanged(MissionFeaturesChanged) = "mission_features_changed",
        /// An entry was added to the progress log of a mission.
        MissionProgressEntry(MissionProgressEntry) = "mission_progress_entry",
        /// A mission is still running.
        MissionHeartbeat(MissionHeartbeat) = "mission_heartbeat",
        /// A worker of a mission started.
        MissionWorkerStarted(MissionWorkerStarted) = "mission_worker_started",
        /// A worker of a mission ended.
        MissionWorkerCompleted(MissionWorkerCompleted) = "mission_worker_completed",
        /// The session was closed. Sent by the daemon.
        SessionClosed(SessionClosed) = "session_closed",
        /// The session will be closed because it is idle. Sent by the daemon.
        SessionInactivity(SessionInactivity) = "session_inactivity",
        /// The agent's process exited. Sent by the daemon.
        SessionProcessExited(SessionProcessExited) = "session_process_exited",
        /// The client gets no more notifications of the session. Sent by the daemon.
        SessionUnsubscribed(SessionUnsubscribed) = "session_unsubscribed",
    }
}
