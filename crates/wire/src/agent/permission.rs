//! May this tool run?

use crate::object::{object, tagged};
use crate::{
    Count, ImpactLevel, Json, SandboxOperationType, SandboxViolationReason, SandboxViolationType,
    ToolConfirmationOutcome, ToolConfirmationType, ToolUse,
};

object! {
    /// Arguments of `request_permission`.
    pub struct RequestPermissionParams {
        tool_uses: Vec<PermissionToolUse> = "toolUses",
        options: Vec<PermissionOption> = "options",
    } optional {
        associated_session_ids: Vec<String> = "associatedSessionIds",
    }
}

object! {
    /// One tool call that needs consent.
    pub struct PermissionToolUse {
        tool_use: ToolUse = "toolUse",
        confirmation_type: ToolConfirmationType = "confirmationType",
        details: PermissionDetails = "details",
    }
}

object! {
    /// One answer that is offered.
    pub struct PermissionOption {
        label: String = "label",
        value: ToolConfirmationOutcome = "value",
    } optional {
        selected_color: String = "selectedColor",
        selected_prefix: String = "selectedPrefix",
    }
}

object! {
    /// Answer of `request_permission`. Anything but a well-formed offered option is taken as cancel.
    pub struct RequestPermissionResult {
        selected_option: ToolConfirmationOutcome = "selectedOption",
    } optional {
        comment: String = "comment",
        edited_spec_content: String = "editedSpecContent",
        selected_exit_spec_mode_option_index: Count = "selectedExitSpecModeOptionIndex",
    }
}

object! {
    /// A permission request that waits, in the answer to `load_session`. Answer it under `requestId`.
    pub struct PendingPermission {
        request_id: String = "requestId",
        tool_uses: Vec<PermissionToolUse> = "toolUses",
        options: Vec<PermissionOption> = "options",
    } optional {
        associated_session_ids: Vec<String> = "associatedSessionIds",
    }
}

tagged! {
    /// What exactly would happen.
    pub enum PermissionDetails by "type" {
        Exec(ExecDetails) = "exec",
        Create(CreateDetails) = "create",
        Edit(EditDetails) = "edit",
        ApplyPatch(ApplyPatchDetails) = "apply_patch",
        McpTool(McpToolDetails) = "mcp_tool",
        ExitSpecMode(ExitSpecModeDetails) = "exit_spec_mode",
        AskUser(AskUserDetails) = "ask_user",
        ProposeMission(ProposeMissionDetails) = "propose_mission",
        StartMissionRun(StartMissionRunDetails) = "start_mission_run",
        SandboxViolation(SandboxViolationDetails) = "sandbox_violation",
        DroidShieldViolation(DroidShieldViolationDetails) = "droid_shield_violation",
    }
}

object! {
    /// A command.
    pub struct ExecDetails {
        full_command: String = "fullCommand",
    } optional {
        /// Its first word.
        command: String = "command",
        extracted_commands: Vec<String> = "extractedCommands",
        impact_level: ImpactLevel = "impactLevel",
        risk_level_reason: String = "riskLevelReason",
    }
}

object! {
    /// A new file.
    pub struct CreateDetails {
        file_path: String = "filePath",
    } optional {
        file_name: String = "fileName",
        content: String = "content",
    }
}

object! {
    /// A change of a file: the whole file before and after.
    pub struct EditDetails {
        file_path: String = "filePath",
    } optional {
        file_name: String = "fileName",
        old_content: String = "oldContent",
        new_content: String = "newContent",
    }
}

object! {
    /// A patch of one or more files.
    pub struct ApplyPatchDetails {
        file_path: String = "filePath",
    } optional {
        file_name: String = "fileName",
        patch_content: String = "patchContent",
        old_content: String = "oldContent",
        new_content: String = "newContent",
        files: Json = "files",
    }
}

object! {
    /// A tool of an MCP server.
    pub struct McpToolDetails {
        /// `server___tool`
        tool_name: String = "toolName",
    } optional {
        impact_level: ImpactLevel = "impactLevel",
        server_name: String = "serverName",
        actual_tool_name: String = "actualToolName",
    }
}

object! {
    /// A plan, and the wish to carry it out.
    pub struct ExitSpecModeDetails {
        plan: String = "plan",
    } optional {
        title: String = "title",
        /// Names of alternative plans, sent by 0.57.
        option_names: Vec<String> = "optionNames",
    }
}

object! {
    /// A questionnaire; 0.225 sends `ask_user` calls instead.
    pub struct AskUserDetails {
        questionnaire: String = "questionnaire",
    } optional {
        parsed: Json = "parsed",
        parse_error: Json = "parseError",
    }
}

object! {
    /// A mission to agree to.
    pub struct ProposeMissionDetails {
        proposal: String = "proposal",
    } optional {
        title: String = "title",
    }
}

object! {
    /// A mission to start.
    pub struct StartMissionRunDetails {} optional {
        running_mission_count: Count = "runningMissionCount",
        running_mission_session_ids: Vec<String> = "runningMissionSessionIds",
    }
}

object! {
    /// Something the sandbox stopped.
    pub struct SandboxViolationDetails {} optional {
        violating_tool_name: String = "violatingToolName",
        target: String = "target",
        operation_type: SandboxOperationType = "operationType",
        violation_type: SandboxViolationType = "violationType",
        reason: String = "reason",
        violation_reason: SandboxViolationReason = "violationReason",
        is_org_deny: bool = "isOrgDeny",
    }
}

object! {
    /// Something the secret scanner stopped.
    pub struct DroidShieldViolationDetails {} optional {
        command: String = "command",
        reason: String = "reason",
    }
}
