//! Tool calls, from the first word to the result.

use crate::object::object;
use crate::{
    Count, Json, ToolConfirmationOutcome, ToolExecutionPhase, ToolProgressType, ToolResultContent, ToolUse,
};

object! {
    /// The model calls a tool. Comes first with an empty input, and again when the input is complete.
    pub struct ToolCall {
        tool_use: ToolUse = "toolUse",
    }
}

object! {
    /// A tool call moves on. Not in 0.99 and older.
    pub struct ToolExecutionPhaseChanged {
        tool_use_id: String = "toolUseId",
        phase: ToolExecutionPhase = "phase",
    } optional {
        tool_name: String = "toolName",
    }
}

object! {
    /// A running tool tells something.
    pub struct ToolProgressUpdate {
        tool_use_id: String = "toolUseId",
        update: ToolProgress = "update",
    } optional {
        tool_name: String = "toolName",
    }
}

object! {
    /// What a running tool tells.
    pub struct ToolProgress {} optional {
        kind: ToolProgressType = "type",
        /// The last lines of the output.
        text: String = "text",
        /// Milliseconds since 1970.
        timestamp: Count = "timestamp",
        terminal_id: String = "terminalId",
        /// The end of the whole output.
        full_output: String = "fullOutput",
        tool_name: String = "toolName",
        status: String = "status",
        details: Json = "details",
        error: Json = "error",
        parameters: Json = "parameters",
        value_snippet: String = "valueSnippet",
        subagent_session_id: String = "subagentSessionId",
    }
}

object! {
    /// A tool still runs.
    pub struct ToolExecutionHeartbeat {
        tool_use_id: String = "toolUseId",
    } optional {
        tool_name: String = "toolName",
    }
}

object! {
    /// What came of a tool call. May come twice for one call: the first counts.
    pub struct ToolResult {
        tool_use_id: String = "toolUseId",
        content: ToolResultContent = "content",
    } optional {
        /// Shared by all results of one assistant message.
        message_id: String = "messageId",
        /// Absent in 0.57.
        is_error: bool = "isError",
    }
}

object! {
    /// A permission request is settled, by whomever.
    pub struct PermissionResolved {
        request_id: String = "requestId",
        selected_option: ToolConfirmationOutcome = "selectedOption",
    } optional {
        /// Empty after a cancel.
        tool_use_ids: Vec<String> = "toolUseIds",
    }
}
