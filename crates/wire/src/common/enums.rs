//! Enums of strings. All are open: a value we do not know is kept.

use crate::object::open_enum;

open_enum! {
    /// What the agent is doing.
    pub enum DroidWorkingState {
        Idle = "idle",
        /// Not in 0.99 and older.
        Thinking = "thinking",
        StreamingAssistantMessage = "streaming_assistant_message",
        WaitingForToolConfirmation = "waiting_for_tool_confirmation",
        ExecutingTool = "executing_tool",
        CompactingConversation = "compacting_conversation",
    }
}

open_enum! {
    /// How a session works: doing, planning, or running missions.
    pub enum InteractionMode {
        Auto = "auto",
        Spec = "spec",
        Agi = "agi",
    }
}

open_enum! {
    /// How much runs without asking. 0.57 used [`AutonomyMode`] values here; they are kept as `Unrecognized`.
    pub enum AutonomyLevel {
        Off = "off",
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

open_enum! {
    /// Interaction mode and autonomy level in one, as older versions had it.
    pub enum AutonomyMode {
        Normal = "normal",
        Spec = "spec",
        AutoLow = "auto-low",
        AutoMedium = "auto-medium",
        AutoHigh = "auto-high",
    }
}

open_enum! {
    /// How long a model may think.
    pub enum ReasoningEffort {
        None = "none",
        Dynamic = "dynamic",
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
    /// An answer to a permission request.
    pub enum ToolConfirmationOutcome {
        ProceedOnce = "proceed_once",
        ProceedAlways = "proceed_always",
        ProceedAlwaysFile = "proceed_always_file",
        ProceedAutoRun = "proceed_auto_run",
        ProceedAutoRunLow = "proceed_auto_run_low",
        ProceedAutoRunMedium = "proceed_auto_run_medium",
        ProceedAutoRunHigh = "proceed_auto_run_high",
        ProceedNewSession = "proceed_new_session",
        ProceedNewSessionLow = "proceed_new_session_low",
        ProceedNewSessionMedium = "proceed_new_session_medium",
        ProceedNewSessionHigh = "proceed_new_session_high",
        ProceedEdit = "proceed_edit",
        ProceedAlwaysTools = "proceed_always_tools",
        ProceedAlwaysServer = "proceed_always_server",
        Cancel = "cancel",
    }
}

open_enum! {
    /// What a permission request is about.
    pub enum ToolConfirmationType {
        Edit = "edit",
        Exec = "exec",
        Create = "create",
        AskUser = "ask_user",
        ExitSpecMode = "exit_spec_mode",
        ProposeMission = "propose_mission",
        StartMissionRun = "start_mission_run",
        ApplyPatch = "apply_patch",
        McpTool = "mcp_tool",
        SandboxViolation = "sandbox_violation",
        DroidShieldViolation = "droid_shield_violation",
    }
}

open_enum! {
    /// How much harm a tool call could do.
    pub enum ImpactLevel {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

open_enum! {
    /// Why a turn ended.
    pub enum AgentTurnCompletionReason {
        Completed = "completed",
        Cancelled = "cancelled",
        PermissionRejected = "permission_rejected",
        Error = "error",
        ProcessExit = "process_exit",
        SpecHandoff = "spec_handoff",
        StructuredOutputMissing = "structured_output_missing",
        StructuredOutputInvalid = "structured_output_invalid",
        StructuredOutputSchemaInvalid = "structured_output_schema_invalid",
        ModelUsageExhausted = "model_usage_exhausted",
        ModelAuthenticationFailed = "model_authentication_failed",
        ModelRequestRejected = "model_request_rejected",
        ModelProviderUnreachable = "model_provider_unreachable",
        ModelProviderUnavailable = "model_provider_unavailable",
        PromptRejected = "prompt_rejected",
        CompletionPersistenceFailed = "completion_persistence_failed",
        NoApproverAvailable = "no_approver_available",
    }
}

open_enum! {
    /// Where a tool call is in its life.
    pub enum ToolExecutionPhase {
        StreamingInput = "streaming_input",
        Queued = "queued",
        Executing = "executing",
        SettledAfterExecution = "settled_after_execution",
        SettledWithoutExecution = "settled_without_execution",
        SettledUnknown = "settled_unknown",
    }
}

open_enum! {
    /// Why the model is asked again.
    pub enum LlmRetryReason {
        Overloaded = "overloaded",
        RateLimited = "rate_limited",
        Timeout = "timeout",
        Network = "network",
        EmptyResponse = "empty_response",
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
        Disabled = "disabled",
    }
}

open_enum! {
    /// How an MCP server is reached.
    pub enum McpServerType {
        Stdio = "stdio",
        Http = "http",
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
    /// Which settings file something stands in.
    pub enum SettingsLevel {
        Org = "org",
        Runtime = "runtime",
        User = "user",
        Project = "project",
        Folder = "folder",
        Dynamic = "dynamic",
        Builtin = "builtin",
    }
}

open_enum! {
    /// Where a skill or subagent is defined.
    pub enum SkillLocation {
        Project = "project",
        Personal = "personal",
        Builtin = "builtin",
        Automation = "automation",
    }
}

open_enum! {
    /// Who brings a tool.
    pub enum ToolSource {
        Native = "native",
        Mcp = "mcp",
        Connector = "connector",
    }
}

open_enum! {
    /// What a tool does to the world.
    pub enum ToolCategory {
        Read = "read",
        Edit = "edit",
        Execute = "execute",
    }
}

open_enum! {
    /// The API a model is reached by.
    pub enum ModelProvider {
        Anthropic = "anthropic",
        Openai = "openai",
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
    /// How commands are confined.
    pub enum SandboxMode {
        PerCommand = "per-command",
        WholeProcess = "whole-process",
    }
}

open_enum! {
    /// What a confined command tried.
    pub enum SandboxViolationType {
        FilesystemRead = "filesystem-read",
        FilesystemWrite = "filesystem-write",
        Network = "network",
        Tool = "tool",
    }
}

open_enum! {
    /// The operation a confined command tried.
    pub enum SandboxOperationType {
        Read = "read",
        Write = "write",
        Network = "network",
        Tool = "tool",
    }
}

open_enum! {
    /// Why the sandbox refused.
    pub enum SandboxViolationReason {
        DenyList = "deny-list",
        NotAllowed = "not-allowed",
    }
}

open_enum! {
    /// Who speaks in a message.
    pub enum MessageRole {
        User = "user",
        Assistant = "assistant",
        Tool = "tool",
        System = "system",
    }
}

open_enum! {
    /// Who is meant to see a message.
    pub enum Visibility {
        Both = "both",
        LlmOnly = "llm_only",
        UserOnly = "user_only",
    }
}

open_enum! {
    /// What a progress update of a tool tells.
    pub enum ToolProgressType {
        ToolCall = "tool_call",
        ToolResult = "tool_result",
        Error = "error",
        Status = "status",
        Message = "message",
    }
}

open_enum! {
    /// How a session got its title.
    pub enum SessionTitleUpdateType {
        FirstUserMessage = "first_user_message",
        LlmGenerated = "llm_generated",
        ManualRename = "manual_rename",
    }
}

open_enum! {
    /// How well the context size is known.
    pub enum ContextStatsAccuracy {
        Exact = "exact",
        Estimated = "estimated",
    }
}

open_enum! {
    /// Why a session is closed.
    pub enum CloseReason {
        Clear = "clear",
        Logout = "logout",
        PromptInputExit = "prompt_input_exit",
        Other = "other",
    }
}

open_enum! {
    /// How a hook run ended.
    pub enum HookStatus {
        Completed = "completed",
        Error = "error",
    }
}

open_enum! {
    /// When a hook runs.
    pub enum HookEventName {
        SessionStart = "SessionStart",
        UserPromptSubmit = "UserPromptSubmit",
        PreToolUse = "PreToolUse",
        PostToolUse = "PostToolUse",
        Stop = "Stop",
    }
}

open_enum! {
    /// A session's part in a mission.
    pub enum DecompSessionType {
        Orchestrator = "orchestrator",
        Worker = "worker",
    }
}

open_enum! {
    /// Where a mission stands.
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
    /// Where one feature of a mission stands.
    pub enum FeatureStatus {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
        Cancelled = "cancelled",
    }
}

open_enum! {
    /// How one feature of a mission went.
    pub enum FeatureSuccessState {
        Success = "success",
        Partial = "partial",
        Failure = "failure",
    }
}

open_enum! {
    /// How much an issue found in a mission matters.
    pub enum IssueSeverity {
        Blocking = "blocking",
        NonBlocking = "non_blocking",
        Suggestion = "suggestion",
    }
}

open_enum! {
    /// What kind of handoff item was dismissed in a mission.
    pub enum DismissalType {
        DiscoveredIssue = "discovered_issue",
        CriticalContext = "critical_context",
        IncompleteWork = "incomplete_work",
    }
}

open_enum! {
    /// What happened in a mission.
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
    /// What kind of program calls.
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
    /// How an OAuth client names itself at the token endpoint.
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
