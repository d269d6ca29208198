//! Sessions: open, load, interrupt, fork, compact, rename, close.

use crate::object::object;
use crate::{
    AgentCapabilities, AutonomyLevel, AutonomyMode, ClientCapabilities, CloseReason, Count,
    DecompSessionType, DroidWorkingState, GitRepo, InteractionMode, Json, LastCallTokenUsage,
    McpServerConfig, ModelInfo, PendingAskUser, PendingPermission, QueuedMessage, ReasoningEffort,
    SessionData, SessionOrigin, SessionSettings, Tag, TokenUsage,
};

object! {
    /// Parameters of `initialize_session`.
    pub struct InitializeSessionParams {
        /// Id of the client's machine; any string.
        machine_id: String = "machineId",
        /// Working directory of the session. Must exist.
        cwd: String = "cwd",
    } optional {
        /// Id of the new session; generated if absent. An existing id starts over, it does not resume.
        session_id: String = "sessionId",
        /// Built-in model id, or `custom:<name>`. Unknown ids select the default model.
        model_id: String = "modelId",
        /// Whether the session executes, plans or runs missions. Default: `auto`.
        interaction_mode: InteractionMode = "interactionMode",
        /// Which tool calls run without a permission request. Default: `off`.
        autonomy_level: AutonomyLevel = "autonomyLevel",
        /// Legacy form that combines interaction mode and autonomy level.
        autonomy_mode: AutonomyMode = "autonomyMode",
        /// Reasoning effort of the main model.
        reasoning_effort: ReasoningEffort = "reasoningEffort",
        /// Model to use while planning; absent means the main model.
        spec_mode_model_id: String = "specModeModelId",
        /// Reasoning effort while planning; absent means the main model's effort.
        spec_mode_reasoning_effort: ReasoningEffort = "specModeReasoningEffort",
        /// MCP servers for this session only.
        mcp_servers: Vec<McpServerConfig> = "mcpServers",
        /// System prompt: a string, or `{type:"preset",preset:"droid",append}` to extend the built-in one.
        system_prompt: Json = "systemPrompt",
        /// Ids of tools to switch on in addition to the default selection.
        enabled_tool_ids: Vec<String> = "enabledToolIds",
        /// Ids of tools to switch off.
        disabled_tool_ids: Vec<String> = "disabledToolIds",
        /// Ids of tools to offer on top of the selection; `restrictToolIds` does not remove them.
        additional_tool_ids: Vec<String> = "additionalToolIds",
        /// If not empty, only these tools are available.
        restrict_tool_ids: Vec<String> = "restrictToolIds",
        /// Labels attached to the session.
        tags: Vec<Tag> = "tags",
        /// Deny every permission request without asking the client. Default: false.
        auto_reject_permission_requests: bool = "autoRejectPermissionRequests",
        /// Run every tool call without a permission request. Default: false.
        skip_permissions_unsafe: bool = "skipPermissionsUnsafe",
        /// Sandbox of commands, as in the settings of musher's engine; read by the engine only.
        sandbox: Json = "sandbox",
        /// Whether to compact the conversation when it exceeds the limit.
        compaction_threshold_check_enabled: bool = "compactionThresholdCheckEnabled",
        /// Whether to leave out the built-in skills. Default: false.
        disable_builtin_skills: bool = "disableBuiltinSkills",
        /// Meaning not documented; declared in the Python SDK.
        workspace_id: String = "workspaceId",
        /// Meaning not documented; declared in the Python SDK.
        session_location: Json = "sessionLocation",
        /// Kind of the client that opens the session.
        session_origin_hint: SessionOrigin = "sessionOriginHint",
        /// Origin of the session: an object tagged by `platform`.
        session_source: Json = "sessionSource",
        /// Redirect URI for OAuth logins at MCP servers.
        mcp_oauth_callback_uri: String = "mcpOAuthCallbackUri",
        /// Role of the session in a mission.
        decomp_session_type: DecompSessionType = "decompSessionType",
        /// Id of the mission that the session belongs to.
        decomp_mission_id: String = "decompMissionId",
        /// Title of the session.
        title: String = "title",
        /// Id of the organization. Sent by a daemon to its worker.
        organization_id: String = "organizationId",
        /// Idle time in milliseconds after which a daemon ends the session's process.
        inactivity_timeout_ms: Count = "inactivityTimeoutMs",
        /// Whether a daemon keeps the session's process while it is idle.
        disable_inactivity_timeout: bool = "disableInactivityTimeout",
        /// Path of a settings file for this session; daemon only.
        runtime_settings_path: String = "runtimeSettingsPath",
        /// Git worktree to create for the session; daemon only. Form not documented.
        worktree: Json = "worktree",
        /// Directory for the worktree; daemon only.
        worktree_dir: String = "worktreeDir",
        /// Additional workspace directories, as absolute paths. musher only.
        additional_directories: Vec<String> = "additionalDirectories",
        /// What the client offers besides the protocol of droid. Understood by our own agents only.
        client_capabilities: ClientCapabilities = "clientCapabilities",
    }
}

object! {
    /// Result of `initialize_session`.
    pub struct InitializeSessionResult {
        /// The session's id.
        session_id: String = "sessionId",
    } optional {
        /// Id of the machine that runs the agent.
        host_id: String = "hostId",
        /// The conversation; empty for a new session.
        session: SessionData = "session",
        /// The complete settings in effect.
        settings: SessionSettings = "settings",
        /// The models that the session can use.
        available_models: Vec<ModelInfo> = "availableModels",
        /// The client's MCP servers, repeated; absent if none were sent.
        mcp_servers: Vec<McpServerConfig> = "mcpServers",
        /// The repository that contains the working directory.
        git_repo: GitRepo = "gitRepo",
        /// The worktree that was created; daemon only. Form not documented.
        worktree: Json = "worktree",
        /// Sent by our own agents only, to clients that announced capabilities.
        agent_capabilities: AgentCapabilities = "agentCapabilities",
    }
}

object! {
    /// Parameters of `load_session`. The working directory comes from the session.
    pub struct LoadSessionParams {
        /// Id of the session to resume.
        session_id: String = "sessionId",
    } optional {
        /// Continue the last turn if it was interrupted: `true`, or the ids of the prompts for which to do that. musher only.
        continue_turn: Json = "musher.continueTurn",
        /// MCP servers for this session only.
        mcp_servers: Vec<McpServerConfig> = "mcpServers",
        /// Redirect URI for OAuth logins at MCP servers.
        mcp_oauth_callback_uri: String = "mcpOAuthCallbackUri",
        /// Ids of tools to offer on top of the selection; `restrictToolIds` does not remove them.
        additional_tool_ids: Vec<String> = "additionalToolIds",
        /// Ids of tools to switch on in addition to the default selection.
        enabled_tool_ids: Vec<String> = "enabledToolIds",
        /// Ids of tools to switch off.
        disabled_tool_ids: Vec<String> = "disabledToolIds",
        /// Deny every permission request without asking the client. Default: false.
        auto_reject_permission_requests: bool = "autoRejectPermissionRequests",
        /// Run every tool call without a permission request. Default: false.
        skip_permissions_unsafe: bool = "skipPermissionsUnsafe",
        /// Sandbox of commands, as in the settings of musher's engine; read by the engine only.
        sandbox: Json = "sandbox",
        /// Whether to leave out the built-in skills. Default: false.
        disable_builtin_skills: bool = "disableBuiltinSkills",
        /// Meaning not documented; declared in the Python SDK.
        session_location: Json = "sessionLocation",
        /// Origin of the session: an object tagged by `platform`.
        session_source: Json = "sessionSource",
        /// Kind of the client that opens the session.
        session_origin_hint: SessionOrigin = "sessionOriginHint",
        /// Whether to return the whole conversation instead of its end; declared for daemons.
        load_all_messages: bool = "loadAllMessages",
        /// Additional workspace directories that replace the stored ones. musher only.
        additional_directories: Vec<String> = "additionalDirectories",
        /// What the client offers besides the protocol of droid. Understood by our own agents only.
        client_capabilities: ClientCapabilities = "clientCapabilities",
    }
}

object! {
    /// Result of `load_session`. droid does not return the session's id: the caller keeps the one it requested.
    pub struct LoadSessionResult {
        /// The conversation.
        session: SessionData = "session",
    } optional {
        /// Id of the loaded session. musher only.
        session_id: String = "sessionId",
        /// Whether older messages were left out of `session`.
        has_older_messages: bool = "hasOlderMessages",
        /// Id of the machine that runs the agent.
        host_id: String = "hostId",
        /// Time of the last change, in seconds since 1970.
        updated_at: Count = "updatedAt",
        /// The complete settings in effect.
        settings: SessionSettings = "settings",
        /// The models that the session can use.
        available_models: Vec<ModelInfo> = "availableModels",
        /// Whether a turn is running.
        is_agent_loop_in_progress: bool = "isAgentLoopInProgress",
        /// Current working state of the agent.
        working_state: DroidWorkingState = "workingState",
        /// Working directory of the session, as an absolute path.
        cwd: String = "cwd",
        /// Tokens used by the session itself.
        token_usage: TokenUsage = "tokenUsage",
        /// Tokens used by the session and its subagents.
        inclusive_token_usage: TokenUsage = "inclusiveTokenUsage",
        /// Tokens of the latest model call.
        last_call_token_usage: LastCallTokenUsage = "lastCallTokenUsage",
        /// Permission requests without a decision yet.
        pending_permissions: Vec<PendingPermission> = "pendingPermissions",
        /// Questions without an answer yet.
        pending_ask_user_requests: Vec<PendingAskUser> = "pendingAskUserRequests",
        /// Messages that wait for the running turn to end.
        queued_messages: Vec<QueuedMessage> = "queuedMessages",
        /// The client's MCP servers, repeated.
        mcp_servers: Vec<McpServerConfig> = "mcpServers",
        /// The repository that contains the working directory.
        git_repo: GitRepo = "gitRepo",
        /// Id of the parent session, if this one belongs to a subagent.
        calling_session_id: String = "callingSessionId",
        /// Id of the parent's tool call that started this session.
        calling_tool_use_id: String = "callingToolUseId",
        /// Role of the session in a mission.
        decomp_session_type: DecompSessionType = "decompSessionType",
        /// State of the session's mission. Form not documented.
        mission: Json = "mission",
        /// State of the session's loop. Form not documented; deprecated by the vendor.
        loop_state: Json = "loopState",
        /// Sent by our own agents only, to clients that announced capabilities.
        agent_capabilities: AgentCapabilities = "agentCapabilities",
    }
}

object! {
    /// Parameters of `fork_session`.
    pub struct ForkSessionParams {} optional {
        /// Title of the new session.
        title: String = "title",
        /// Labels of the new session.
        tags: Vec<Tag> = "tags",
    }
}

object! {
    /// Result of `fork_session`. The process stays in the old session.
    pub struct ForkSessionResult {
        /// Id of the new session. Load it to use it.
        new_session_id: String = "newSessionId",
    }
}

object! {
    /// Parameters of `compact_session`.
    pub struct CompactSessionParams {} optional {
        /// Additional instructions for the summary.
        custom_instructions: String = "customInstructions",
    }
}

object! {
    /// Result of `compact_session`. The process stays in the old session.
    pub struct CompactSessionResult {
        /// Id of the session that holds the summary. Load it to use it.
        new_session_id: String = "newSessionId",
    } optional {
        /// Number of messages that the summary replaces.
        removed_count: Count = "removedCount",
    }
}

object! {
    /// Parameters of `rename_session`.
    pub struct RenameSessionParams {
        /// The new title.
        title: String = "title",
    }
}

object! {
    /// Parameters of `close_session`, after which the process exits.
    pub struct CloseSessionParams {} optional {
        /// Why the client closes the session.
        reason: CloseReason = "reason",
    }
}

object! {
    /// Parameters of `kill_worker_session`.
    pub struct KillWorkerSessionParams {
        /// Id of the worker's session.
        worker_session_id: String = "workerSessionId",
    }
}

object! {
    /// Parameters of `submit_bug_report`.
    pub struct SubmitBugReportParams {
        /// The user's description of the problem.
        user_comment: String = "userComment",
    } optional {
        /// Logs of the client. Form not documented.
        client_logs: Json = "clientLogs",
    }
}

object! {
    /// Result of `submit_bug_report`.
    pub struct SubmitBugReportResult {
        /// Id of the report.
        bug_report_id: String = "bugReportId",
    }
}
