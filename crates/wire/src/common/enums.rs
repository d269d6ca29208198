//! Enums of strings. All are open: unknown values are preserved.

use crate::object::open_enum;

open_enum! {
    /// The working state of the agent.
    pub enum DroidWorkingState {
        /// No turn is running.
        Idle = "idle",
        /// The model is reasoning. Not sent by 0.99 and older.
        Thinking = "thinking",
        /// The model is called, or writes its answer.
        StreamingAssistantMessage = "streaming_assistant_message",
        /// A permission request or a question is pending.
        WaitingForToolConfirmation = "waiting_for_tool_confirmation",
        /// Tools are running.
        ExecutingTool = "executing_tool",
        /// The conversation is being compacted.
        CompactingConversation = "compacting_conversation",
    }
}

open_enum! {
    /// How a session works: executing, planning, or running missions.
    pub enum InteractionMode {
        /// The agent executes prompts. The default.
        Auto = "auto",
        /// The agent plans and changes nothing until the plan is approved.
        Spec = "spec",
        /// The agent runs missions.
        Agi = "agi",
    }
}

open_enum! {
    /// Which tool calls run without a permission request. 0.57 sent [`AutonomyMode`] values here; they read as `Unrecognized`.
    pub enum AutonomyLevel {
        /// Read-only tools and commands run without a permission request.
        Off = "off",
        /// File edits and low-impact commands run as well.
        Low = "low",
        /// Medium-impact commands run as well.
        Medium = "medium",
        /// Everything except deny-listed commands runs.
        High = "high",
    }
}

open_enum! {
    /// Legacy form of interaction mode and autonomy level in one value.
    pub enum AutonomyMode {
        /// Executes prompts at autonomy level off.
        Normal = "normal",
        /// Plans.
        Spec = "spec",
        /// Executes prompts at autonomy level low.
        AutoLow = "auto-low",
        /// Executes prompts at autonomy level medium.
        AutoMedium = "auto-medium",
        /// Executes prompts at autonomy level high.
        AutoHigh = "auto-high",
    }
}

open_enum! {
    /// How much reasoning a model does.
    pub enum ReasoningEffort {
        /// No reasoning effort applies.
        None = "none",
        /// The model decides.
        Dynamic = "dynamic",
        /// No reasoning.
        Off = "off",
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
        Xhigh = "xhigh",
        Max = "max",
    }
}

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
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

open_enum! {
    /// Why a turn ended.
    pub enum AgentTurnCompletionReason {
        /// The model finished, or the user denied a tool call.
        Completed = "completed",
        /// The client interrupted the turn.
        Cancelled = "cancelled",
        /// A permission request was denied automatically.
        PermissionRejected = "permission_rejected",
        /// The turn failed; an `error` notification says why.
        Error = "error",
        /// The agent's process is exiting.
        ProcessExit = "process_exit",
        /// A new session executes the plan.
        SpecHandoff = "spec_handoff",
        /// No final answer for the requested output format.
        StructuredOutputMissing = "structured_output_missing",
        /// The final answer is not JSON, or does not satisfy the schema.
        StructuredOutputInvalid = "structured_output_invalid",
        /// The requested schema is not valid.
        StructuredOutputSchemaInvalid = "structured_output_schema_invalid",
        /// The model provider's quota is used up.
        ModelUsageExhausted = "model_usage_exhausted",
        /// The model provider rejected the credential.
        ModelAuthenticationFailed = "model_authentication_failed",
        /// The model provider rejected the request.
        ModelRequestRejected = "model_request_rejected",
        /// No connection to the model provider.
        ModelProviderUnreachable = "model_provider_unreachable",
        /// The model provider did not respond after all retries.
        ModelProviderUnavailable = "model_provider_unavailable",
        /// A hook rejected the prompt.
        PromptRejected = "prompt_rejected",
        /// The end of the turn could not be stored.
        CompletionPersistenceFailed = "completion_persistence_failed",
        /// A permission request could not reach any client.
        NoApproverAvailable = "no_approver_available",
    }
}

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
    /// Why a model call is retried.
    pub enum LlmRetryReason {
        /// The model provider is overloaded or returned a server error.
        Overloaded = "overloaded",
        /// The model provider limits the rate of requests.
        RateLimited = "rate_limited",
        /// The model provider did not respond in time.
        Timeout = "timeout",
        /// The connection failed.
        Network = "network",
        /// The model's answer was empty.
        EmptyResponse = "empty_response",
        /// No reason given.
        Unknown = "unknown",
    }
}

open_enum! {
    /// The class of an `error` notification.
    pub enum DroidErrorType {
        ConnectionError = "ConnectionError",
        ProtocolError = "ProtocolError",
        SessionError = "SessionError",
        TimeoutError = "TimeoutError",
        DroidClientError = "DroidClientError",
        ProcessExitError = "ProcessExitError",
        Error = "Error",
    }
}

open_enum! {
    /// The state of one MCP server.
    pub enum McpServerStatus {
        Connecting = "connecting",
        Connected = "connected",
        Disconnected = "disconnected",
        Failed = "failed",
        /// Switched off in the settings.
        Disabled = "disabled",
    }
}

open_enum! {
    /// The transport of an MCP server.
    pub enum McpServerType {
        /// A child process, over its standard input and output.
        Stdio = "stdio",
        /// Streamable HTTP.
        Http = "http",
        /// HTTP with server-sent events, the older transport.
        Sse = "sse",
    }
}

open_enum! {
    /// How an MCP login ended.
    pub enum McpAuthOutcome {
        Success = "success",
        Cancelled = "cancelled",
        Failed = "failed",
    }
}

open_enum! {
    /// Where a setting is defined.
    pub enum SettingsLevel {
        /// Settings of the organization.
        Org = "org",
        /// The settings file of one process.
        Runtime = "runtime",
        /// Settings of the user.
        User = "user",
        /// Settings of the project.
        Project = "project",
        /// Settings of a folder inside the project.
        Folder = "folder",
        /// Changed while running.
        Dynamic = "dynamic",
        /// Built into the agent.
        Builtin = "builtin",
    }
}

open_enum! {
    /// Where a skill or subagent is defined.
    pub enum SkillLocation {
        /// In the project.
        Project = "project",
        /// In the user's home directory.
        Personal = "personal",
        /// Built into the agent.
        Builtin = "builtin",
        /// Provided by an automation.
        Automation = "automation",
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

open_enum! {
    /// The API that serves a model.
    pub enum ModelProvider {
        Anthropic = "anthropic",
        Openai = "openai",
        /// Any API compatible with `OpenAI` chat completions.
        GenericChatCompletionApi = "generic-chat-completion-api",
        Factory = "factory",
        Google = "google",
        Xai = "xai",
        Voyage = "voyage",
    }
}

open_enum! {
    /// Where a session or message comes from.
    pub enum SessionOrigin {
        Web = "web",
        Desktop = "desktop",
        CliTui = "cli_tui",
        CliExec = "cli_exec",
        CliAcp = "cli_acp",
        Slack = "slack",
        Jira = "jira",
        Linear = "linear",
        MicrosoftTeams = "microsoft-teams",
        SessionsApi = "sessions_api",
        Api = "api",
        Sdk = "sdk",
        Automation = "automation",
        ReadinessRemediation = "readiness-remediation",
        ReadinessEvaluation = "readiness-evaluation",
        WikiGeneration = "wiki-generation",
        WikiCiSetup = "wiki-ci-setup",
    }
}

open_enum! {
    /// The platform of a session's source.
    pub enum SessionPlatform {
        Slack = "slack",
        Web = "web",
        Api = "api",
        SessionsApi = "sessions_api",
        Jira = "jira",
        Linear = "linear",
        MicrosoftTeams = "microsoft-teams",
        ReadinessRemediation = "readiness-remediation",
        ReadinessEvaluation = "readiness-evaluation",
        Automation = "automation",
        WikiGeneration = "wiki-generation",
        WikiCiSetup = "wiki-ci-setup",
        Tui = "tui",
        Desktop = "desktop",
        Acp = "acp",
        Unknown = "unknown",
    }
}

open_enum! {
    /// The scope of a sandbox.
    pub enum SandboxMode {
        /// Each command has its own sandbox.
        PerCommand = "per-command",
        /// The whole agent process is sandboxed.
        WholeProcess = "whole-process",
    }
}

open_enum! {
    /// The restriction that a sandboxed command violated.
    pub enum SandboxViolationType {
        FilesystemRead = "filesystem-read",
        FilesystemWrite = "filesystem-write",
        Network = "network",
        Tool = "tool",
    }
}

open_enum! {
    /// The operation that a sandboxed command attempted.
    pub enum SandboxOperationType {
        Read = "read",
        Write = "write",
        Network = "network",
        Tool = "tool",
    }
}

open_enum! {
    /// Why the sandbox blocked an operation.
    pub enum SandboxViolationReason {
        /// The target is on a deny list.
        DenyList = "deny-list",
        /// The target is not on an allow list.
        NotAllowed = "not-allowed",
    }
}

open_enum! {
    /// The author of a message.
    pub enum MessageRole {
        /// Written by the user, or injected on the user's behalf.
        User = "user",
        /// Written by the model.
        Assistant = "assistant",
        /// Holds tool results; only in results of `load_session`.
        Tool = "tool",
        /// Written by the agent, such as an error report.
        System = "system",
    }
}

open_enum! {
    /// The audience of a message.
    pub enum Visibility {
        /// For the user and the model.
        Both = "both",
        /// For the model only.
        LlmOnly = "llm_only",
        /// For the user only.
        UserOnly = "user_only",
    }
}

open_enum! {
    /// The kind of a progress update of a tool.
    pub enum ToolProgressType {
        ToolCall = "tool_call",
        ToolResult = "tool_result",
        Error = "error",
        Status = "status",
        Message = "message",
    }
}

open_enum! {
    /// The origin of a session title.
    pub enum SessionTitleUpdateType {
        /// The beginning of the first prompt.
        FirstUserMessage = "first_user_message",
        /// Written by a model.
        LlmGenerated = "llm_generated",
        /// Set by the user.
        ManualRename = "manual_rename",
    }
}

open_enum! {
    /// The accuracy of context statistics.
    pub enum ContextStatsAccuracy {
        Exact = "exact",
        Estimated = "estimated",
    }
}

open_enum! {
    /// Why a session is closed.
    pub enum CloseReason {
        /// The user cleared the conversation.
        Clear = "clear",
        /// The user logged out.
        Logout = "logout",
        /// The user left the prompt.
        PromptInputExit = "prompt_input_exit",
        /// Any other reason.
        Other = "other",
    }
}

open_enum! {
    /// How a hook run ended.
    pub enum HookStatus {
        /// All commands succeeded.
        Completed = "completed",
        /// A command failed.
        Error = "error",
    }
}

open_enum! {
    /// The event that triggers a hook.
    pub enum HookEventName {
        /// A session begins or is resumed.
        SessionStart = "SessionStart",
        /// The user sent a prompt.
        UserPromptSubmit = "UserPromptSubmit",
        /// A tool is about to run.
        PreToolUse = "PreToolUse",
        /// A tool has run.
        PostToolUse = "PostToolUse",
        /// A turn is about to end.
        Stop = "Stop",
    }
}

open_enum! {
    /// The role of a session in a mission.
    pub enum DecompSessionType {
        /// Plans the mission and starts workers.
        Orchestrator = "orchestrator",
        /// Implements one feature of the mission.
        Worker = "worker",
    }
}

open_enum! {
    /// The state of a mission.
    pub enum MissionState {
        AwaitingInput = "awaiting_input",
        Initializing = "initializing",
        Running = "running",
        Paused = "paused",
        OrchestratorTurn = "orchestrator_turn",
        Completed = "completed",
    }
}

open_enum! {
    /// The state of a feature of a mission.
    pub enum FeatureStatus {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
        Cancelled = "cancelled",
    }
}

open_enum! {
    /// The outcome of a feature of a mission.
    pub enum FeatureSuccessState {
        Success = "success",
        Partial = "partial",
        Failure = "failure",
    }
}

open_enum! {
    /// The severity of an issue found in a mission.
    pub enum IssueSeverity {
        Blocking = "blocking",
        NonBlocking = "non_blocking",
        Suggestion = "suggestion",
    }
}

open_enum! {
    /// The kind of a handoff item dismissed in a mission.
    pub enum DismissalType {
        DiscoveredIssue = "discovered_issue",
        CriticalContext = "critical_context",
        IncompleteWork = "incomplete_work",
    }
}

open_enum! {
    /// The kind of an entry in a mission's progress log.
    pub enum ProgressLogEntryType {
        MissionAccepted = "mission_accepted",
        MissionPaused = "mission_paused",
        MissionResumed = "mission_resumed",
        MissionRunStarted = "mission_run_started",
        WorkerStarted = "worker_started",
        WorkerSelectedFeature = "worker_selected_feature",
        WorkerCompleted = "worker_completed",
        WorkerFailed = "worker_failed",
        WorkerPaused = "worker_paused",
        HandoffItemsDismissed = "handoff_items_dismissed",
        MilestoneValidationTriggered = "milestone_validation_triggered",
    }
}

open_enum! {
    /// The kind of client program.
    pub enum ClientType {
        WebDesktop = "web-desktop",
        WebApp = "web-app",
        WebWorkspace = "web-workspace",
        Daemon = "daemon",
        Cli = "cli",
        Backend = "backend",
        Sdk = "sdk",
    }
}

open_enum! {
    /// How an OAuth client authenticates at the token endpoint.
    pub enum TokenEndpointAuthMethod {
        None = "none",
        ClientSecretBasic = "client_secret_basic",
        ClientSecretPost = "client_secret_post",
    }
}

open_enum! {
    /// The state of MCP as a whole.
    pub enum McpStatus {
        NotInitialized = "not-initialized",
        Initializing = "initializing",
        Ready = "ready",
        NoServers = "no-servers",
        Failed = "failed",
    }
}
