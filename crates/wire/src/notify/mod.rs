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
        DroidWorkingStateChanged(DroidWorkingStateChanged) = "droid_working_state_changed",
        CreateMessage(Box<CreateMessage>) = "create_message",
        AssistantTextDelta(AssistantTextDelta) = "assistant_text_delta",
        AssistantTextComplete(AssistantTextComplete) = "assistant_text_complete",
        ThinkingTextDelta(ThinkingTextDelta) = "thinking_text_delta",
        ThinkingTextComplete(ThinkingTextComplete) = "thinking_text_complete",
        AssistantMessageRetracted(AssistantMessageRetracted) = "assistant_message_retracted",
        ToolCall(Box<ToolCall>) = "tool_call",
        ToolExecutionPhaseChanged(ToolExecutionPhaseChanged) = "tool_execution_phase_changed",
        ToolProgressUpdate(Box<ToolProgressUpdate>) = "tool_progress_update",
        ToolExecutionHeartbeat(ToolExecutionHeartbeat) = "tool_execution_heartbeat",
        ToolResult(ToolResult) = "tool_result",
        PermissionResolved(PermissionResolved) = "permission_resolved",
        AgentTurnCompleted(Box<AgentTurnCompleted>) = "agent_turn_completed",
        SessionTokenUsageChanged(Box<SessionTokenUsageChanged>) = "session_token_usage_changed",
        StructuredOutput(StructuredOutput) = "structured_output",
        Error(Box<ErrorNotification>) = "error",
        LlmRetry(LlmRetry) = "llm_retry",
        QueuedMessagesDiscarded(QueuedMessagesDiscarded) = "queued_messages_discarded",
        SettingsUpdated(Box<SettingsUpdated>) = "settings_updated",
        SessionTitleUpdated(SessionTitleUpdated) = "session_title_updated",
        SessionCompacted(SessionCompacted) = "session_compacted",
        SessionWorkingDirectoryChanged(SessionWorkingDirectoryChanged) = "session_working_directory_changed",
        ChildSessionAvailable(Box<ChildSessionAvailable>) = "child_session_available",
        LoopStateChanged(LoopStateChanged) = "loop_state_changed",
        McpStatusChanged(Box<McpStatusChanged>) = "mcp_status_changed",
        McpAuthRequired(Box<McpAuthRequired>) = "mcp_auth_required",
        McpAuthCompleted(McpAuthCompleted) = "mcp_auth_completed",
        HookExecutionStarted(Box<HookExecutionStarted>) = "hook_execution_started",
        HookExecutionCompleted(Box<HookExecutionCompleted>) = "hook_execution_completed",
        MissionStateChanged(MissionStateChanged) = "mission_state_changed",
        MissionFeaturesChanged(MissionFeaturesChanged) = "mission_features_changed",
        MissionProgressEntry(MissionProgressEntry) = "mission_progress_entry",
        MissionHeartbeat(MissionHeartbeat) = "mission_heartbeat",
        MissionWorkerStarted(MissionWorkerStarted) = "mission_worker_started",
        MissionWorkerCompleted(MissionWorkerCompleted) = "mission_worker_completed",
        SessionClosed(SessionClosed) = "session_closed",
        SessionInactivity(SessionInactivity) = "session_inactivity",
        SessionProcessExited(SessionProcessExited) = "session_process_exited",
        SessionUnsubscribed(SessionUnsubscribed) = "session_unsubscribed",
    }
}
