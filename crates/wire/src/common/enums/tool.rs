//! Tools and their calls.

use crate::object::open_enum;

open_enum! {
    /// The phase of a tool call.
    pub enum ToolExecutionPhase {
        /// The model is writing the arguments.
        StreamingInput = "streaming_input",
        /// The call waits for other calls or for permission.
        Queued = "queued",
        /// The tool is running.
        Executing = "executing",
        /// The tool has finished.
        SettledAfterExecution = "settled_after_execution",
        /// The call ended before the tool ran.
        SettledWithoutExecution = "settled_without_execution",
        /// The call ended; whether the tool ran is unknown.
        SettledUnknown = "settled_unknown",
    }
}

open_enum! {
    /// The kind of a progress update of a tool.
    pub enum ToolProgressType {
        /// The tool, such as a subagent, calls another tool.
        ToolCall = "tool_call",
        /// A tool that the tool called has returned.
        ToolResult = "tool_result",
        /// An error that does not end the call.
        Error = "error",
        /// A status line.
        Status = "status",
        /// Text that the tool wrote.
        Message = "message",
    }
}

open_enum! {
    /// The provider of a tool.
    pub enum ToolSource {
        /// Built into the agent.
        Native = "native",
        /// An MCP server.
        Mcp = "mcp",
        /// A connector of the vendor's service.
        Connector = "connector",
    }
}

open_enum! {
    /// The effect of a tool.
    pub enum ToolCategory {
        /// Reads only.
        Read = "read",
        /// Edits files.
        Edit = "edit",
        /// Runs programs.
        Execute = "execute",
    }
}
