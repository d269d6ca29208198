//! The table of methods: wire name, parameters, result, client timeout. Everything else derives from it.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{
    Accepted, AddMcpServerParams, AddUserMessageParams, Addressed, ArchiveSessionResult, ArchiveStateChanged,
    AskUserParams, AskUserResult, Audit, AuthenticateParams, AuthenticateResult, CancelRequestParams,
    CloseSessionParams, CompactSessionParams, CompactSessionResult, ConnectionStatus, CreateTerminalParams,
    CreateTerminalResult, Empty, ExecuteRewindParams, ExecuteRewindResult, FilesParams, FilesResult,
    Findings, ForkSessionParams, ForkSessionResult, GetContextBreakdownResult, GetContextStatsResult,
    GetRewindInfoParams, GetRewindInfoResult, GetSessionMessagesParams, GetSessionMessagesResult,
    InitializeSessionParams, InitializeSessionResult, Json, KillWorkerSessionParams, ListCommandsResult,
    ListMcpRegistryResult, ListMcpServersResult, ListMcpToolsResult, ListModelsParams, ListModelsResult,
    ListSessionsParams, ListSessionsResult, ListSkillsResult, ListToolsParams, ListToolsResult,
    LoadSessionParams, LoadSessionResult, McpServerNameParams, ReadTextFileParams, ReadTextFileResult,
    RemoveMcpServerParams, RenameSessionParams, RequestPermissionParams, RequestPermissionResult,
    SearchSessionsParams, SearchSessionsResult, SessionIdParams, SessionNotificationParams,
    SetSkillDisabledParams, ShapeError, SubmitBugReportParams, SubmitBugReportResult,
    SubmitMcpAuthCodeParams, SubmitMcpAuthErrorParams, Success, TerminalOutputResult, TerminalParams,
    ToggleMcpServerParams, ToggleMcpToolParams, UpdateSessionSettingsParams, ValidateWorkingDirectoryParams,
    ValidateWorkingDirectoryResult, WaitForTerminalExitResult, WriteTextFileParams, typed,
};

/// A method: its wire name and the types of its payloads.
///
/// ```
/// use musher_wire::{InitializeSession, Method};
///
/// assert_eq!(InitializeSession::NAME, "droid.initialize_session");
/// ```
pub trait Method {
    /// The wire name.
    const NAME: &'static str;
    /// How long a client waits for the response.
    const TIMEOUT: Duration;
    /// The type of the parameters.
    type Params: Payload;
    /// The type of the result.
    type Result: Payload;
}

/// The payload of a call or notification.
pub trait Payload: Serialize + DeserializeOwned + Audit + fmt::Debug + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Audit + fmt::Debug + Send + 'static> Payload for T {}

/// One of the two payloads of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The parameters of a call or notification.
    Params,
    /// The result of a call.
    Result,
}

/// A payload that was read as its type and printed again, with its unknown parts.
#[derive(Debug)]
pub struct Inspected {
    /// The payload as printed by its type.
    pub printed: Json,
    /// The parts that its type does not know.
    pub findings: Findings,
}

/// Reads a payload as the type given by the table of methods. Returns `None` if the method is not in the table.
///
/// For tools that inspect any traffic; code that knows its method uses [`Json::read_as`].
pub fn inspect(method: &str, side: Side, payload: &Json) -> Option<Result<Inspected, ShapeError>> {
    let inspector = inspector(method, side)?;
    Some(inspector(method, side, payload))
}

type Inspector = fn(&str, Side, &Json) -> Result<Inspected, ShapeError>;

fn inspect_as<T: Payload>(method: &str, side: Side, payload: &Json) -> Result<Inspected, ShapeError> {
    let root = match side {
        Side::Params => "params",
        Side::Result => "result",
    };
    let value: T = typed::read(method, root, payload)?;
    let mut findings = Findings::default();
    value.audit(&mut findings);
    let printed = Json::new(&value).map_err(|source| typed::error(method, root, source))?;
    Ok(Inspected { printed, findings })
}

macro_rules! methods {
    ($($Name:ident = $wire:literal ($Params:ty) -> $Result:ty, $seconds:literal s;)*
     ; notifications $($nwire:literal ($NParams:ty);)*
     ; daemon $($dwire:literal ($DParams:ty) -> $DResult:ty;)*) => {
        $(
            #[doc = concat!("The method `", $wire, "`.")]
            #[derive(Debug, Clone, Copy)]
            pub enum $Name {}

            impl Method for $Name {
                const NAME: &'static str = $wire;
                const TIMEOUT: Duration = Duration::from_secs($seconds);
                type Params = $Params;
                type Result = $Result;
            }
        )*

        /// The wire names of all calls of exec mode.
        pub const METHODS: &[&str] = &[$($wire),*];

        fn inspector(method: &str, side: Side) -> Option<Inspector> {
            Some(match (method, side) {
                $(($wire, Side::Params) => inspect_as::<$Params>,)*
                $(($wire, Side::Result) => inspect_as::<$Result>,)*
                $(($nwire, Side::Params) => inspect_as::<$NParams>,)*
                $(($dwire, Side::Params) => inspect_as::<Addressed<$DParams>>,)*
                $(($dwire, Side::Result) => inspect_as::<$DResult>,)*
                _ => return None,
            })
        }
    };
}

methods! {
    // client to agent
    InitializeSession = "droid.initialize_session" (InitializeSessionParams) -> InitializeSessionResult, 60 s;
    LoadSession = "droid.load_session" (LoadSessionParams) -> LoadSessionResult, 60 s;
    AddUserMessage = "droid.add_user_message" (AddUserMessageParams) -> Empty, 30 s;
    InterruptSession = "droid.interrupt_session" (Empty) -> Empty, 30 s;
    UpdateSessionSettings = "droid.update_session_settings" (UpdateSessionSettingsParams) -> Empty, 30 s;
    ForkSession = "droid.fork_session" (ForkSessionParams) -> ForkSessionResult, 30 s;
    CompactSession = "droid.compact_session" (CompactSessionParams) -> CompactSessionResult, 240 s;
    RenameSession = "droid.rename_session" (RenameSessionParams) -> Success, 30 s;
    CloseSession = "droid.close_session" (CloseSessionParams) -> Empty, 30 s;
    KillWorkerSession = "droid.kill_worker_session" (KillWorkerSessionParams) -> Empty, 30 s;
    SubmitBugReport = "droid.submit_bug_report" (SubmitBugReportParams) -> SubmitBugReportResult, 30 s;
    GetRewindInfo = "droid.get_rewind_info" (GetRewindInfoParams) -> GetRewindInfoResult, 30 s;
    ExecuteRewind = "droid.execute_rewind" (ExecuteRewindParams) -> ExecuteRewindResult, 60 s;
    GetContextStats = "droid.get_context_stats" (Empty) -> GetContextStatsResult, 30 s;
    GetContextBreakdown = "droid.get_context_breakdown" (Empty) -> GetContextBreakdownResult, 30 s;
    ListModels = "droid.list_models" (ListModelsParams) -> ListModelsResult, 30 s;
    ListTools = "droid.list_tools" (ListToolsParams) -> ListToolsResult, 30 s;
    ListSkills = "droid.list_skills" (Empty) -> ListSkillsResult, 30 s;
    SetSkillDisabled = "droid.set_skill_disabled" (SetSkillDisabledParams) -> Success, 30 s;
    ListCommands = "droid.list_commands" (Empty) -> ListCommandsResult, 30 s;
    ListMcpServers = "droid.list_mcp_servers" (Empty) -> ListMcpServersResult, 30 s;
    ListMcpTools = "droid.list_mcp_tools" (Empty) -> ListMcpToolsResult, 30 s;
    ListMcpRegistry = "droid.list_mcp_registry" (Empty) -> ListMcpRegistryResult, 30 s;
    AddMcpServer = "droid.add_mcp_server" (AddMcpServerParams) -> Success, 30 s;
    RemoveMcpServer = "droid.remove_mcp_server" (RemoveMcpServerParams) -> Success, 30 s;
    ToggleMcpServer = "droid.toggle_mcp_server" (ToggleMcpServerParams) -> Success, 30 s;
    ToggleMcpTool = "droid.toggle_mcp_tool" (ToggleMcpToolParams) -> Success, 30 s;
    AuthenticateMcpServer = "droid.authenticate_mcp_server" (McpServerNameParams) -> Success, 300 s;
    CancelMcpAuth = "droid.cancel_mcp_auth" (McpServerNameParams) -> Success, 30 s;
    ClearMcpAuth = "droid.clear_mcp_auth" (McpServerNameParams) -> Success, 30 s;
    SubmitMcpAuthCode = "droid.submit_mcp_auth_code" (SubmitMcpAuthCodeParams) -> Success, 30 s;
    SubmitMcpAuthError = "droid.submit_mcp_auth_error" (SubmitMcpAuthErrorParams) -> Success, 30 s;

    // agent to client; a long timeout, because a user answers and the agent itself waits forever
    RequestPermission = "droid.request_permission" (RequestPermissionParams) -> RequestPermissionResult, 86_400 s;
    AskUser = "droid.ask_user" (AskUserParams) -> AskUserResult, 86_400 s;

    // agent to client, our extension: only sent to clients that announced it
    ReadTextFile = "musher.read_text_file" (ReadTextFileParams) -> ReadTextFileResult, 86_400 s;
    WriteTextFile = "musher.write_text_file" (WriteTextFileParams) -> Empty, 86_400 s;
    CreateTerminal = "musher.create_terminal" (CreateTerminalParams) -> CreateTerminalResult, 86_400 s;
    TerminalOutput = "musher.terminal_output" (TerminalParams) -> TerminalOutputResult, 86_400 s;
    WaitForTerminalExit = "musher.wait_for_terminal_exit" (TerminalParams) -> WaitForTerminalExitResult, 86_400 s;
    KillTerminal = "musher.kill_terminal" (TerminalParams) -> Empty, 86_400 s;
    ReleaseTerminal = "musher.release_terminal" (TerminalParams) -> Empty, 86_400 s;

    ; notifications
    "droid.session_notification" (SessionNotificationParams);
    "musher.cancel_request" (CancelRequestParams);
    "daemon.session_notification" (SessionNotificationParams);
    "daemon.connection_status" (ConnectionStatus);
    "daemon.session.archive_state_changed" (ArchiveStateChanged);

    ; daemon
    "daemon.authenticate" (AuthenticateParams) -> AuthenticateResult;
    "daemon.logout" (Empty) -> Accepted;
    "daemon.initialize_session" (InitializeSessionParams) -> InitializeSessionResult;
    "daemon.load_session" (LoadSessionParams) -> LoadSessionResult;
    "daemon.add_user_message" (AddUserMessageParams) -> Empty;
    "daemon.interrupt_session" (Empty) -> Empty;
    "daemon.update_session_settings" (UpdateSessionSettingsParams) -> Empty;
    "daemon.fork_session" (ForkSessionParams) -> ForkSessionResult;
    "daemon.compact_session" (CompactSessionParams) -> CompactSessionResult;
    "daemon.rename_session" (RenameSessionParams) -> Success;
    "daemon.close_session" (CloseSessionParams) -> Empty;
    "daemon.kill_worker_session" (KillWorkerSessionParams) -> Empty;
    "daemon.get_rewind_info" (GetRewindInfoParams) -> GetRewindInfoResult;
    "daemon.execute_rewind" (ExecuteRewindParams) -> ExecuteRewindResult;
    "daemon.get_context_breakdown" (Empty) -> GetContextBreakdownResult;
    "daemon.list_skills" (Empty) -> ListSkillsResult;
    "daemon.list_commands" (Empty) -> ListCommandsResult;
    "daemon.list_mcp_servers" (Empty) -> ListMcpServersResult;
    "daemon.list_mcp_tools" (Empty) -> ListMcpToolsResult;
    "daemon.list_mcp_registry" (Empty) -> ListMcpRegistryResult;
    "daemon.add_mcp_server" (AddMcpServerParams) -> Success;
    "daemon.remove_mcp_server" (RemoveMcpServerParams) -> Success;
    "daemon.toggle_mcp_server" (ToggleMcpServerParams) -> Success;
    "daemon.toggle_mcp_tool" (ToggleMcpToolParams) -> Success;
    "daemon.authenticate_mcp_server" (McpServerNameParams) -> Success;
    "daemon.cancel_mcp_auth" (McpServerNameParams) -> Success;
    "daemon.clear_mcp_auth" (McpServerNameParams) -> Success;
    "daemon.submit_mcp_auth_code" (SubmitMcpAuthCodeParams) -> Success;
    "daemon.list_opened_sessions" (ListSessionsParams) -> ListSessionsResult;
    "daemon.list_available_sessions" (ListSessionsParams) -> ListSessionsResult;
    "daemon.get_session_messages" (GetSessionMessagesParams) -> GetSessionMessagesResult;
    "daemon.search_sessions" (SearchSessionsParams) -> SearchSessionsResult;
    "daemon.archive_session" (SessionIdParams) -> ArchiveSessionResult;
    "daemon.unarchive_session" (SessionIdParams) -> ArchiveSessionResult;
    "daemon.list_files" (FilesParams) -> FilesResult;
    "daemon.search_files" (FilesParams) -> FilesResult;
    "daemon.validate_working_directory" (ValidateWorkingDirectoryParams) -> ValidateWorkingDirectoryResult;
    "daemon.request_permission" (RequestPermissionParams) -> Addressed<RequestPermissionResult>;
    "daemon.ask_user" (AskUserParams) -> Addressed<AskUserResult>;
    // known, but unused so far: results stay untyped
    "daemon.get_default_settings" (Empty) -> Json;
    "daemon.get_git_diff" (Empty) -> Json;
    "daemon.get_proxy_token" (Empty) -> Json;
    "daemon.list_crons" (Empty) -> Json;
    "daemon.relay.get_status" (Empty) -> Json;
    "daemon.trigger_update" (Empty) -> Json;
}
