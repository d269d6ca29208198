//! Verdicts, permission requests and decisions.

use std::path::PathBuf;

use crate::policy::host;
use crate::{Access, Autonomy, Risk};

/// Whether a call runs, by the permission rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It runs. File tools have this access.
    Run(Access),
    /// It runs only if the user allows it.
    Ask(Box<PermissionRequest>),
    /// It does not run: the rules forbid it.
    Refuse(Refusal),
    /// It needs permission, but the policy forbids asking. The turn should end.
    CannotAsk(Refusal),
}

/// Why a call does not run, as two texts without a leading `Error:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Shown by clients.
    pub for_client: String,
    /// Read by the model.
    pub for_model: String,
}

impl Refusal {
    /// Creates a refusal with the same text for client and model.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { for_client: text.clone(), for_model: text }
    }
}

/// Asks the user whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionRequest {
    /// What the call would do.
    pub kind: Kind,
    /// The risk of the call, as the permission rules see it.
    pub risk: Risk,
    /// The choices the user has, in display order.
    pub choices: Vec<Choice>,
    /// The access of file tools if the user allows the call.
    pub access: Access,
    /// Whether the call would run without the sandbox, in which it would run otherwise.
    pub leaves_sandbox: bool,
}

impl PermissionRequest {
    /// Returns the risk as clients name it.
    pub fn impact(&self) -> &'static str {
        self.risk.name()
    }

    /// Returns the label of a choice.
    pub fn label(&self, choice: Choice) -> String {
        let level = |level: &str| format!("Yes, with autonomy {level}");
        let new_session = |level: &str| format!("Yes, in a new session with autonomy {level}");
        match (choice, &self.kind) {
            (Choice::ProceedOnce, _) => "Yes".to_owned(),
            (Choice::ProceedAlways, Kind::Beyond { tool, target, operation: Operation::Network, .. }) => {
                match host(target).filter(|host| !host.is_empty()) {
                    Some(host) => format!("Yes, and don't ask again for {host} in this session"),
                    None => format!("Yes, and don't ask again for {tool} in this session"),
                }
            }
            (Choice::ProceedAlways, _) => format!(
                "Yes, and don't ask again in this session{}",
                match choice.granted_level(self.risk) {
                    Autonomy::Off | Autonomy::Low => " to change files in the workspace",
                    Autonomy::Medium =>
                        " to change or delete files, build, install packages, commit or read from the web",
                    Autonomy::High => ", except for actions that always need approval",
                }
            ),
            (Choice::ProceedAlwaysTools, Kind::McpTool { actual_tool, .. }) => {
                format!("Yes, and always allow `{actual_tool}`")
            }
            (Choice::ProceedAlwaysServer, Kind::McpTool { server, .. }) => {
                format!("Yes, and always allow every tool of `{server}`")
            }
            (Choice::ProceedAlwaysTools, _) => "Yes, and always allow this tool".to_owned(),
            (Choice::ProceedAlwaysServer, _) => "Yes, and always allow this server".to_owned(),
            (Choice::ProceedAutoRunLow, _) => level("low"),
            (Choice::ProceedAutoRunMedium, _) => level("medium"),
            (Choice::ProceedAutoRunHigh, _) => level("high"),
            (Choice::ProceedNewSession, _) => new_session("off"),
            (Choice::ProceedNewSessionLow, _) => new_session("low"),
            (Choice::ProceedNewSessionMedium, _) => new_session("medium"),
            (Choice::ProceedNewSessionHigh, _) => new_session("high"),
            (Choice::ProceedEdit, _) => "Yes, with changes".to_owned(),
            (Choice::Cancel, Kind::ExitSpecMode { .. }) => "No, keep planning".to_owned(),
            (Choice::Cancel, _) => "No".to_owned(),
        }
    }
}

/// What a call would do, for display. Texts are made [`visible`](super::visible); the call runs with its own input, never with these
/// texts. Names of MCP servers and of their tools are unchanged, because grants are stored under them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A command.
    Exec {
        /// The whole command line.
        full_command: String,
        /// The name of the first program.
        command: String,
        /// All programs, with the subcommand where it matters.
        extracted_commands: Vec<String>,
        /// Why permission is needed, or the reason the model gave.
        reason: Option<String>,
    },
    /// Creates or replaces a file.
    Create {
        /// The resolved path.
        path: PathBuf,
        /// The last component of `path`.
        file_name: String,
        /// The new content.
        content: String,
    },
    /// Edits a file.
    Edit {
        /// The resolved path.
        path: PathBuf,
        /// The last component of `path`.
        file_name: String,
        /// The whole file before the edit. Set by callers that can read it.
        old_content: Option<String>,
        /// The whole file after the edit.
        new_content: Option<String>,
    },
    /// Applies a patch.
    ApplyPatch {
        /// The resolved path of the first file.
        path: PathBuf,
        /// The last component of `path`.
        file_name: String,
        /// The patch.
        patch: String,
        /// All files the patch changes.
        files: Vec<PathBuf>,
        /// The first file before the patch. Set by callers that can read it.
        old_content: Option<String>,
        /// The first file after the patch.
        new_content: Option<String>,
    },
    /// Calls a tool of an MCP server.
    McpTool {
        /// `server___tool`
        tool_name: String,
        /// The server.
        server: String,
        /// The server's name for the tool.
        actual_tool: String,
    },
    /// Proposes a plan.
    ExitSpecMode {
        /// The plan.
        plan: String,
        /// The title of the plan.
        title: Option<String>,
        /// Names of alternatives.
        option_names: Vec<String>,
    },
    /// Any other call that needs permission: `sandbox_violation` for clients.
    Beyond {
        /// The tool.
        tool: String,
        /// The path or address; the tool if there is none.
        target: String,
        /// The kind of access.
        operation: Operation,
        /// Why permission is needed.
        reason: String,
    },
}

impl Kind {
    /// Returns the name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Exec { .. } => "exec",
            Self::Create { .. } => "create",
            Self::Edit { .. } => "edit",
            Self::ApplyPatch { .. } => "apply_patch",
            Self::McpTool { .. } => "mcp_tool",
            Self::ExitSpecMode { .. } => "exit_spec_mode",
            Self::Beyond { .. } => "sandbox_violation",
        }
    }
}

/// The kind of access a call needs permission for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Read files.
    Read,
    /// Use the network.
    Network,
    /// Anything else.
    Tool,
}

impl Operation {
    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Network => "network",
            Self::Tool => "tool",
        }
    }
}

/// The user's answer to a permission request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// One of the choices of the request.
    pub choice: Choice,
    /// The plan as edited by the user, if the request was about a plan.
    pub edited_plan: Option<String>,
}

impl From<Choice> for Decision {
    fn from(choice: Choice) -> Self {
        Self { choice, edited_plan: None }
    }
}

/// A choice of a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Allow this call.
    ProceedOnce,
    /// Allow this call and later calls of the same or lower risk; for a web page, later pages of the same host.
    ProceedAlways,
    /// Allow this call and later calls of this MCP tool.
    ProceedAlwaysTools,
    /// Allow this call and later calls of every tool of the MCP server.
    ProceedAlwaysServer,
    /// Carry the plan out with low autonomy.
    ProceedAutoRunLow,
    /// Carry the plan out with medium autonomy.
    ProceedAutoRunMedium,
    /// Carry the plan out with high autonomy.
    ProceedAutoRunHigh,
    /// Carry the plan out in a new session with autonomy off.
    ProceedNewSession,
    /// Carry the plan out in a new session with low autonomy.
    ProceedNewSessionLow,
    /// Carry the plan out in a new session with medium autonomy.
    ProceedNewSessionMedium,
    /// Carry the plan out in a new session with high autonomy.
    ProceedNewSessionHigh,
    /// Carry the plan out as edited by the user.
    ProceedEdit,
    /// Deny the call.
    Cancel,
}

impl Choice {
    /// The choices for most calls.
    pub(super) const CALL: &[Self] = &[Self::ProceedOnce, Self::ProceedAlways, Self::Cancel];
    /// The choices for a call that needs permission every time.
    pub(super) const ONCE: &[Self] = &[Self::ProceedOnce, Self::Cancel];
    /// The choices for a tool of an MCP server.
    pub(super) const MCP: &[Self] = &[
        Self::ProceedOnce,
        Self::ProceedAlways,
        Self::ProceedAlwaysTools,
        Self::ProceedAlwaysServer,
        Self::Cancel,
    ];
    /// The choices for a plan.
    pub(super) const PLAN: &[Self] = &[
        Self::ProceedOnce,
        Self::ProceedAutoRunLow,
        Self::ProceedAutoRunMedium,
        Self::ProceedAutoRunHigh,
        Self::ProceedNewSession,
        Self::ProceedNewSessionLow,
        Self::ProceedNewSessionMedium,
        Self::ProceedNewSessionHigh,
        Self::Cancel,
    ];
    const ALL: [Self; 13] = [
        Self::ProceedOnce,
        Self::ProceedAlways,
        Self::ProceedAlwaysTools,
        Self::ProceedAlwaysServer,
        Self::ProceedAutoRunLow,
        Self::ProceedAutoRunMedium,
        Self::ProceedAutoRunHigh,
        Self::ProceedNewSession,
        Self::ProceedNewSessionLow,
        Self::ProceedNewSessionMedium,
        Self::ProceedNewSessionHigh,
        Self::ProceedEdit,
        Self::Cancel,
    ];

    /// Returns the autonomy level this choice grants, given the risk of the request.
    pub(super) fn granted_level(self, risk: Risk) -> Autonomy {
        match self {
            Self::ProceedAlways => Autonomy::for_risk(risk).max(Autonomy::Low),
            Self::ProceedAutoRunLow | Self::ProceedNewSessionLow => Autonomy::Low,
            Self::ProceedAutoRunMedium | Self::ProceedNewSessionMedium => Autonomy::Medium,
            Self::ProceedAutoRunHigh | Self::ProceedNewSessionHigh => Autonomy::High,
            Self::ProceedOnce
            | Self::ProceedAlwaysTools
            | Self::ProceedAlwaysServer
            | Self::ProceedNewSession
            | Self::ProceedEdit
            | Self::Cancel => Autonomy::Off,
        }
    }

    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProceedOnce => "proceed_once",
            Self::ProceedAlways => "proceed_always",
            Self::ProceedAlwaysTools => "proceed_always_tools",
            Self::ProceedAlwaysServer => "proceed_always_server",
            Self::ProceedAutoRunLow => "proceed_auto_run_low",
            Self::ProceedAutoRunMedium => "proceed_auto_run_medium",
            Self::ProceedAutoRunHigh => "proceed_auto_run_high",
            Self::ProceedNewSession => "proceed_new_session",
            Self::ProceedNewSessionLow => "proceed_new_session_low",
            Self::ProceedNewSessionMedium => "proceed_new_session_medium",
            Self::ProceedNewSessionHigh => "proceed_new_session_high",
            Self::ProceedEdit => "proceed_edit",
            Self::Cancel => "cancel",
        }
    }

    /// Parses the name on the wire. Treat an unknown name as [`Choice::Cancel`].
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name)
    }
}
