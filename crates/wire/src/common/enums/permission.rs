//! Permission requests: kinds, risks and decisions.

use crate::object::open_enum;

open_enum! {
    /// A decision on a permission request.
    pub enum ToolConfirmationOutcome {
        /// Run this tool call.
        ProceedOnce = "proceed_once",
        /// Run this tool call and raise the autonomy level to the one it requires.
        ProceedAlways = "proceed_always",
        /// Run this tool call and later ones on the same file.
        ProceedAlwaysFile = "proceed_always_file",
        /// Approve the plan and run tool calls without permission requests.
        ProceedAutoRun = "proceed_auto_run",
        /// Approve the plan and set autonomy level low.
        ProceedAutoRunLow = "proceed_auto_run_low",
        /// Approve the plan and set autonomy level medium.
        ProceedAutoRunMedium = "proceed_auto_run_medium",
        /// Approve the plan and set autonomy level high.
        ProceedAutoRunHigh = "proceed_auto_run_high",
        /// Execute the plan in a new session.
        ProceedNewSession = "proceed_new_session",
        /// Execute the plan in a new session at autonomy level low.
        ProceedNewSessionLow = "proceed_new_session_low",
        /// Execute the plan in a new session at autonomy level medium.
        ProceedNewSessionMedium = "proceed_new_session_medium",
        /// Execute the plan in a new session at autonomy level high.
        ProceedNewSessionHigh = "proceed_new_session_high",
        /// Approve the plan as edited in `editedSpecContent`.
        ProceedEdit = "proceed_edit",
        /// Run this tool call and later calls of the same MCP tool.
        ProceedAlwaysTools = "proceed_always_tools",
        /// Run this tool call and later calls of all tools of its MCP server.
        ProceedAlwaysServer = "proceed_always_server",
        /// Deny the tool call, which ends the turn.
        Cancel = "cancel",
    }
}

open_enum! {
    /// The kind of a permission request.
    pub enum ToolConfirmationType {
        /// Editing a file.
        Edit = "edit",
        /// Running a command.
        Exec = "exec",
        /// Creating a file.
        Create = "create",
        /// Questions to the user; 0.225 sends `droid.ask_user` instead.
        AskUser = "ask_user",
        /// Approval of a plan.
        ExitSpecMode = "exit_spec_mode",
        /// Approval of a mission.
        ProposeMission = "propose_mission",
        /// Start of a mission.
        StartMissionRun = "start_mission_run",
        /// Applying a patch.
        ApplyPatch = "apply_patch",
        /// Calling a tool of an MCP server.
        McpTool = "mcp_tool",
        /// An operation that the sandbox blocked.
        SandboxViolation = "sandbox_violation",
        /// A command that the secret scanner blocked.
        DroidShieldViolation = "droid_shield_violation",
    }
}

open_enum! {
    /// The risk of a tool call.
    pub enum ImpactLevel {
        /// Changes nothing, or only what is easy to undo.
        Low = "low",
        /// Changes the machine in a way that can be undone.
        Medium = "medium",
        /// May destroy data, reach other systems or reveal secrets.
        High = "high",
    }
}
