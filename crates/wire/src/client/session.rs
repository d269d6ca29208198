//! Sessions: open, load, interrupt, fork, compact, rename, close.

use crate::object::object;
use crate::{
    AutonomyLevel, AutonomyMode, CloseReason, Count, DecompSessionType, DroidWorkingState, GitRepo,
    InteractionMode, Json, LastCallTokenUsage, McpServerConfig, ModelInfo, PendingAskUser, PendingPermission,
    QueuedMessage, ReasoningEffort, SessionData, SessionOrigin, SessionSettings, Tag, TokenUsage,
};

object! {
    /// Arguments of `initialize_session`.
    pub struct InitializeSessionParams {
        machine_id: String = "machineId",
        /// Must exist.
        cwd: String = "cwd",
    } optional {
        /// Taken as it is. An id that exists begins anew; it does not resume.
        session_id: String = "sessionId",
        model_id: String = "modelId",
        interaction_mode: InteractionMode = "interactionMode",
        autonomy_level: AutonomyLevel = "autonomyLevel",
        autonomy_mode: AutonomyMode = "autonomyMode",
        reasoning_effort: ReasoningEffort = "reasoningEffort",
        spec_mode_model_id: String = "specModeModelId",
        spec_mode_reasoning_effort: ReasoningEffort = "specModeReasoningEffort",
        mcp_servers: Vec<McpServerConfig> = "mcpServers",
        /// A string, or `{type:"preset",preset:"droid",append}`.
        system_prompt: Json = "systemPrompt",
        enabled_tool_ids: Vec<String> = "enabledToolIds",
        disabled_tool_ids: Vec<String> = "disabledToolIds",
        additional_tool_ids: Vec<String> = "additionalToolIds",
        restrict_tool_ids: Vec<String> = "restrictToolIds",
        tags: Vec<Tag> = "tags",
        auto_reject_permission_requests: bool = "autoRejectPermissionRequests",
        skip_permissions_unsafe: bool = "skipPermissionsUnsafe",
        compaction_threshold_check_enabled: bool = "compactionThresholdCheckEnabled",
        disable_builtin_skills: bool = "disableBuiltinSkills",
        workspace_id: String = "workspaceId",
        session_location: Json = "sessionLocation",
        session_origin_hint: SessionOrigin = "sessionOriginHint",
        /// An object told apart by `platform`.
        session_source: Json = "sessionSource",
        mcp_oauth_callback_uri: String = "mcpOAuthCallbackUri",
        decomp_session_type: DecompSessionType = "decompSessionType",
        decomp_mission_id: String = "decompMissionId",
        title: String = "title",
        /// Sent by a daemon to its worker.
        organization_id: String = "organizationId",
        inactivity_timeout_ms: Count = "inactivityTimeoutMs",
        disable_inactivity_timeout: bool = "disableInactivityTimeout",
        runtime_settings_path: String = "runtimeSettingsPath",
        worktree: Json = "worktree",
        worktree_dir: String = "worktreeDir",
        /// Further folders of the workspace. Understood by our own agents only.
        additional_directories: Vec<String> = "additionalDirectories",
    }
}

object! {
    /// Answer of `initialize_session`.
    pub struct InitializeSessionResult {
        session_id: String = "sessionId",
    } optional {
        host_id: String = "hostId",
        session: SessionData = "session",
        settings: SessionSettings = "settings",
        available_models: Vec<ModelInfo> = "availableModels",
        mcp_servers: Vec<McpServerConfig> = "mcpServers",
        git_repo: GitRepo = "gitRepo",
        worktree: Json = "worktree",
    }
}

object! {
    /// Arguments of `load_session`. The working directory comes from the session.
    pub struct LoadSessionParams {
        session_id: String = "sessionId",
    } optional {
        mcp_servers: Vec<McpServerConfig> = "mcpServers",
        mcp_oauth_callback_uri: String = "mcpOAuthCallbackUri",
        additional_tool_ids: Vec<String> = "additionalToolIds",
        enabled_tool_ids: Vec<String> = "enabledToolIds",
        disabled_tool_ids: Vec<String> = "disabledToolIds",
        auto_reject_permission_requests: bool = "autoRejectPermissionRequests",
        skip_permissions_unsafe: bool = "skipPermissionsUnsafe",
        disable_builtin_skills: bool = "disableBuiltinSkills",
        session_location: Json = "sessionLocation",
        session_source: Json = "sessionSource",
        session_origin_hint: SessionOrigin = "sessionOriginHint",
        load_all_messages: bool = "loadAllMessages",
        /// Further folders of the workspace, instead of those it had. Understood by our own agents only.
        additional_directories: Vec<String> = "additionalDirectories",
    }
}

object! {
    /// Answer of `load_session`. It does not hold the session's id: the caller keeps the one it asked for.
    pub struct LoadSessionResult {
        session: SessionData = "session",
    } optional {
        /// Sent by our own agents only.
        session_id: String = "sessionId",
        has_older_messages: bool = "hasOlderMessages",
        host_id: String = "hostId",
        /// Seconds since 1970.
        updated_at: Count = "updatedAt",
        settings: SessionSettings = "settings",
        available_models: Vec<ModelInfo> = "availableModels",
        is_agent_loop_in_progress: bool = "isAgentLoopInProgress",
        working_state: DroidWorkingState = "workingState",
        cwd: String = "cwd",
        token_usage: TokenUsage = "tokenUsage",
        inclusive_token_usage: TokenUsage = "inclusiveTokenUsage",
        last_call_token_usage: LastCallTokenUsage = "lastCallTokenUsage",
        pending_permissions: Vec<PendingPermission> = "pendingPermissions",
        pending_ask_user_requests: Vec<PendingAskUser> = "pendingAskUserRequests",
        queued_messages: Vec<QueuedMessage> = "queuedMessages",
        mcp_servers: Vec<McpServerConfig> = "mcpServers",
        git_repo: GitRepo = "gitRepo",
        calling_session_id: String = "callingSessionId",
        calling_tool_use_id: String = "callingToolUseId",
        decomp_session_type: DecompSessionType = "decompSessionType",
        mission: Json = "mission",
        loop_state: Json = "loopState",
    }
}

object! {
    /// Arguments of `fork_session`.
    pub struct ForkSessionParams {} optional {
        title: String = "title",
        tags: Vec<Tag> = "tags",
    }
}

object! {
    /// Answer of `fork_session`. The process stays in the old session.
    pub struct ForkSessionResult {
        new_session_id: String = "newSessionId",
    }
}

object! {
    /// Arguments of `compact_session`.
    pub struct CompactSessionParams {} optional {
        custom_instructions: String = "customInstructions",
    }
}

object! {
    /// Answer of `compact_session`. The process stays in the old session.
    pub struct CompactSessionResult {
        new_session_id: String = "newSessionId",
    } optional {
        removed_count: Count = "removedCount",
    }
}

object! {
    /// Arguments of `rename_session`.
    pub struct RenameSessionParams {
        title: String = "title",
    }
}

object! {
    /// Arguments of `close_session`, after which the process exits.
    pub struct CloseSessionParams {} optional {
        reason: CloseReason = "reason",
    }
}

object! {
    /// Arguments of `kill_worker_session`.
    pub struct KillWorkerSessionParams {
        worker_session_id: String = "workerSessionId",
    }
}

object! {
    /// Arguments of `submit_bug_report`.
    pub struct SubmitBugReportParams {
        user_comment: String = "userComment",
    } optional {
        client_logs: Json = "clientLogs",
    }
}

object! {
    /// Answer of `submit_bug_report`.
    pub struct SubmitBugReportResult {
        bug_report_id: String = "bugReportId",
    }
}
