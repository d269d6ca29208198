//! Permission requests: whether a tool call may run.

use crate::object::{object, tagged};
use crate::{
    Count, ImpactLevel, Json, SandboxOperationType, SandboxViolationReason, SandboxViolationType,
    ToolConfirmationOutcome, ToolConfirmationType, ToolUse,
};

object! {
    /// Parameters of `request_permission`.
    pub struct RequestPermissionParams {
        /// The tool calls to approve or deny together; 0.225 sends one per request.
        tool_uses: Vec<PermissionToolUse> = "toolUses",
        /// The decisions that the agent accepts, in display order.
        options: Vec<PermissionOption> = "options",
    } optional {
        /// Meaning not documented; declared in the Python SDK.
        associated_session_ids: Vec<String> = "associatedSessionIds",
    }
}

object! {
    /// A tool call that needs permission.
    pub struct PermissionToolUse {
        /// The tool call with its complete input.
        tool_use: ToolUse = "toolUse",
        /// Kind of the request; equals the `type` of `details`.
        confirmation_type: ToolConfirmationType = "confirmationType",
        /// Effect of the tool call, for display.
        details: PermissionDetails = "details",
    }
}

object! {
    /// A decision that the agent offers.
    pub struct PermissionOption {
        /// Text for display.
        label: String = "label",
        /// The decision to send back if the user selects this option.
        value: ToolConfirmationOutcome = "value",
    } optional {
        /// Color of the option while it is selected, as `#rrggbb`.
        selected_color: String = "selectedColor",
        /// Text to show before the label while the option is selected.
        selected_prefix: String = "selectedPrefix",
    }
}

object! {
    /// Result of `request_permission`: the decision. The agent treats any other value as `cancel`.
    pub struct RequestPermissionResult {
        /// The decision: the `value` of one of the offered options.
        selected_option: ToolConfirmationOutcome = "selectedOption",
    } optional {
        /// The user's comment. droid 0.225 accepts it and does not pass it to the model.
        comment: String = "comment",
        /// The plan as edited by the user, with `proceed_edit`.
        edited_spec_content: String = "editedSpecContent",
        /// With `cancel`: whether the turn continues, and the model reads the comment. musher only.
        continue_turn: bool = "musher.continueTurn",
        /// With `cancel`: the input that the one tool call gets instead; the call is checked again. musher only.
        rewritten_input: Json = "musher.rewrittenInput",
        /// Index of the selected alternative plan; daemon only.
        selected_exit_spec_mode_option_index: Count = "selectedExitSpecModeOptionIndex",
    }
}

object! {
    /// A pending permission request, in the result of `load_session`. Respond to it with the JSON-RPC id `requestId`.
    pub struct PendingPermission {
        /// JSON-RPC id to use in the response.
        request_id: String = "requestId",
        /// The tool calls to approve or deny together.
        tool_uses: Vec<PermissionToolUse> = "toolUses",
        /// The decisions that the agent accepts, in display order.
        options: Vec<PermissionOption> = "options",
    } optional {
        /// Meaning not documented; declared in the Python SDK.
        associated_session_ids: Vec<String> = "associatedSessionIds",
    }
}

tagged! {
    /// The effect that a tool call would have, by kind.
    pub enum PermissionDetails by "type" {
        /// Running a command.
        Exec(ExecDetails) = "exec",
        /// Creating a file.
        Create(CreateDetails) = "create",
        /// Editing a file.
        Edit(EditDetails) = "edit",
        /// Applying a patch to files.
        ApplyPatch(ApplyPatchDetails) = "apply_patch",
        /// Calling a tool of an MCP server.
        McpTool(McpToolDetails) = "mcp_tool",
        /// Leaving spec mode with a plan.
        ExitSpecMode(ExitSpecModeDetails) = "exit_spec_mode",
        /// Questions to the user. 0.225 sends `droid.ask_user` instead.
        AskUser(AskUserDetails) = "ask_user",
        /// Accepting the plan of a mission.
        ProposeMission(ProposeMissionDetails) = "propose_mission",
        /// Starting the workers of a mission.
        StartMissionRun(StartMissionRunDetails) = "start_mission_run",
        /// An operation that the sandbox blocked.
        SandboxViolation(SandboxViolationDetails) = "sandbox_violation",
        /// A command that the secret scanner blocked.
        DroidShieldViolation(DroidShieldViolationDetails) = "droid_shield_violation",
    }
}

object! {
    /// Running a command.
    pub struct ExecDetails {
        /// The complete command line.
        full_command: String = "fullCommand",
    } optional {
        /// First word of the command line.
        command: String = "command",
        /// The commands that the agent found in the command line.
        extracted_commands: Vec<String> = "extractedCommands",
        /// Risk of the command, as rated by the agent.
        impact_level: ImpactLevel = "impactLevel",
        /// Reason for the rating, usually written by the model.
        risk_level_reason: String = "riskLevelReason",
        /// Whether the command would run without the sandbox, in which it would run otherwise. Only musher sends it.
        leaves_sandbox: bool = "musher.leavesSandbox",
    }
}

object! {
    /// Creating a file.
    pub struct CreateDetails {
        /// Path of the file.
        file_path: String = "filePath",
    } optional {
        /// Last component of the path.
        file_name: String = "fileName",
        /// Content of the new file.
        content: String = "content",
    }
}

object! {
    /// Editing a file: its whole content before and after.
    pub struct EditDetails {
        /// Path of the file.
        file_path: String = "filePath",
    } optional {
        /// Last component of the path.
        file_name: String = "fileName",
        /// Content of the whole file before the edit.
        old_content: String = "oldContent",
        /// Content of the whole file after the edit.
        new_content: String = "newContent",
    }
}

object! {
    /// Applying a patch to one or more files.
    pub struct ApplyPatchDetails {
        /// Path of the file.
        file_path: String = "filePath",
    } optional {
        /// Last component of the path.
        file_name: String = "fileName",
        /// Text of the patch.
        patch_content: String = "patchContent",
        /// Content of the whole file before the patch.
        old_content: String = "oldContent",
        /// Content of the whole file after the patch.
        new_content: String = "newContent",
        /// The patched files, if there are several. Element type not documented.
        files: Json = "files",
    }
}

object! {
    /// Calling a tool of an MCP server.
    pub struct McpToolDetails {
        /// Qualified name, `server___tool`.
        tool_name: String = "toolName",
    } optional {
        /// Risk of the call: `low` for tools marked as read-only, otherwise `high`.
        impact_level: ImpactLevel = "impactLevel",
        /// Name of the MCP server.
        server_name: String = "serverName",
        /// Name of the tool on its server.
        actual_tool_name: String = "actualToolName",
    }
}

object! {
    /// Approval of a plan.
    pub struct ExitSpecModeDetails {
        /// The plan, as Markdown.
        plan: String = "plan",
    } optional {
        /// Title of the plan.
        title: String = "title",
        /// Names of alternative plans. Sent by 0.57 only.
        option_names: Vec<String> = "optionNames",
    }
}

object! {
    /// Questions to the user; 0.225 sends `ask_user` calls instead.
    pub struct AskUserDetails {
        /// The questions in the text form that the model wrote.
        questionnaire: String = "questionnaire",
    } optional {
        /// The parsed questions, `{questions: [...]}`.
        parsed: Json = "parsed",
        /// Why the questionnaire could not be parsed, `{message, line?}`.
        parse_error: Json = "parseError",
    }
}

object! {
    /// Approval of a mission.
    pub struct ProposeMissionDetails {
        /// Text of the proposal.
        proposal: String = "proposal",
    } optional {
        /// Title of the mission.
        title: String = "title",
    }
}

object! {
    /// Start of a mission.
    pub struct StartMissionRunDetails {} optional {
        /// Number of missions that are running.
        running_mission_count: Count = "runningMissionCount",
        /// Ids of the sessions of the running missions.
        running_mission_session_ids: Vec<String> = "runningMissionSessionIds",
    }
}

object! {
    /// An operation that the sandbox blocked.
    pub struct SandboxViolationDetails {} optional {
        /// Name of the tool whose call was blocked.
        violating_tool_name: String = "violatingToolName",
        /// The path, host or tool that was accessed.
        target: String = "target",
        /// The operation that was attempted.
        operation_type: SandboxOperationType = "operationType",
        /// Which restriction was violated.
        violation_type: SandboxViolationType = "violationType",
        /// Explanation for display.
        reason: String = "reason",
        /// Whether a deny list or a missing permission blocked the operation.
        violation_reason: SandboxViolationReason = "violationReason",
        /// Whether the organization's settings deny the operation.
        is_org_deny: bool = "isOrgDeny",
    }
}

object! {
    /// A command that the secret scanner blocked.
    pub struct DroidShieldViolationDetails {} optional {
        /// The command that was blocked.
        command: String = "command",
        /// Explanation for display.
        reason: String = "reason",
    }
}
