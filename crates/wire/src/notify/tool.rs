//! Tool calls, from the start of the call to its result.

use crate::object::object;
use crate::{
    Count, Json, ToolConfirmationOutcome, ToolExecutionPhase, ToolProgressType, ToolResultContent, ToolUse,
};

object! {
    /// The model calls a tool. Sent first with empty input, and again with complete input.
    pub struct ToolCall {
        /// The tool call; its input is empty in the first notification and complete in the last.
        tool_use: ToolUse = "toolUse",
    }
}

object! {
    /// A tool call enters a new phase. Not sent by 0.99 and older.
    pub struct ToolExecutionPhaseChanged {
        /// Id of the tool call.
        tool_use_id: String = "toolUseId",
        /// The new phase.
        phase: ToolExecutionPhase = "phase",
    } optional {
        /// Name of the tool, as the model calls it.
        tool_name: String = "toolName",
    }
}

object! {
    /// A running tool reports progress.
    pub struct ToolProgressUpdate {
        /// Id of the tool call.
        tool_use_id: String = "toolUseId",
        /// The progress data.
        update: ToolProgress = "update",
    } optional {
        /// Name of the tool, as the model calls it.
        tool_name: String = "toolName",
    }
}

object! {
    /// Progress of a running tool.
    pub struct ToolProgress {} optional {
        /// Kind of the update.
        kind: ToolProgressType = "type",
        /// Last lines of the output.
        text: String = "text",
        /// Time of the update, in milliseconds since 1970.
        timestamp: Count = "timestamp",
        /// Id of the terminal that runs the command.
        terminal_id: String = "terminalId",
        /// End of the whole output, at most 8192 characters.
        full_output: String = "fullOutput",
        /// Name of the tool that a subagent calls.
        tool_name: String = "toolName",
        /// Status for display.
        status: String = "status",
        /// Details of the update. Form not documented.
        details: Json = "details",
        /// Why the step failed. Form not documented.
        error: Json = "error",
        /// Arguments of the subagent's tool call.
        parameters: Json = "parameters",
        /// Short form of the arguments or the result, for display.
        value_snippet: String = "valueSnippet",
        /// Id of the subagent's session.
        subagent_session_id: String = "subagentSessionId",
    }
}

object! {
    /// A tool is still running.
    pub struct ToolExecutionHeartbeat {
        /// Id of the tool call.
        tool_use_id: String = "toolUseId",
    } optional {
        /// Name of the tool, as the model calls it.
        tool_name: String = "toolName",
    }
}

object! {
    /// The result of a tool call. May be sent twice for one call; the first one is authoritative.
    pub struct ToolResult {
        /// Id of the tool call.
        tool_use_id: String = "toolUseId",
        /// The result.
        content: ToolResultContent = "content",
    } optional {
        /// Id shared by all results of one assistant message.
        message_id: String = "messageId",
        /// Whether the tool call failed. 0.57 does not send it.
        is_error: bool = "isError",
    }
}

object! {
    /// A permission request is resolved, by any client or by an interrupt.
    pub struct PermissionResolved {
        /// JSON-RPC id of the permission request.
        request_id: String = "requestId",
        /// The decision.
        selected_option: ToolConfirmationOutcome = "selectedOption",
    } optional {
        /// Ids of the approved tool calls; empty after `cancel`.
        tool_use_ids: Vec<String> = "toolUseIds",
    }
}
