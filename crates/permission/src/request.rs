//! What a decision can be, and what is shown to whoever is asked.

use std::path::PathBuf;

use crate::{Access, Risk};

use crate::Autonomy;

/// What happens to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It runs, and its file tools may go this far.
    Run(Access),
    /// It runs only with permission.
    Ask(Box<PermissionRequest>),
    /// It does not run: the rules forbid it.
    Refuse(Refusal),
    /// It needs permission, and the policy says that there is no one to ask. The turn should end.
    CannotAsk(Refusal),
}

/// Why a call does not run, as two texts without a leading `Error:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// For the client.
    pub for_wire: String,
    /// For the model.
    pub for_model: String,
}

impl Refusal {
    /// A refusal with the same text for both.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { for_wire: text.clone(), for_model: text }
    }
}

/// A question to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionRequest {
    /// What would happen.
    pub kind: Kind,
    /// The effective risk.
    pub risk: Risk,
    /// The answers that are offered, in order.
    pub choices: Vec<Choice>,
    /// How far file tools may go if the answer is yes.
    pub access: Access,
}

impl PermissionRequest {
    /// The word for the risk that clients know. They have none for no risk.
    pub fn impact(&self) -> &'static str {
        self.risk.name()
    }

    /// The text beside an answer.
    pub fn label(&self, choice: Choice) -> String {
        let level = |level: &str| format!("Yes, with autonomy {level}");
        let new_session = |level: &str| format!("Yes, in a new session with autonomy {level}");
        match (choice, &self.kind) {
            (Choice::ProceedOnce, _) => "Yes".to_owned(),
            (Choice::ProceedAlways, _) => {
                format!("Yes, and everything of {} impact from now on", self.impact())
            }
            (Choice::ProceedAlwaysTools, Kind::McpTool { actual_tool, .. }) => {
                format!("Yes, and always `{actual_tool}`")
            }
            (Choice::ProceedAlwaysServer, Kind::McpTool { server, .. }) => {
                format!("Yes, and always every tool of `{server}`")
            }
            (Choice::ProceedAlwaysTools, _) => "Yes, and always this tool".to_owned(),
            (Choice::ProceedAlwaysServer, _) => "Yes, and always this server".to_owned(),
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

/// What would happen. Texts are made [`visible`](super::visible): what is run is the call's own input, never these. Only the names of MCP
/// servers and of their tools are as they are, since they are remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A command.
    Exec {
        /// All of it.
        full_command: String,
        /// The name of its first program.
        command: String,
        /// The programs in it, with the sub-command where that says more.
        extracted_commands: Vec<String>,
        /// Why it is asked for, or what the model says.
        reason: Option<String>,
    },
    /// A new file, or a file written anew.
    Create {
        /// Where it really goes.
        path: PathBuf,
        /// The last part of that.
        file_name: String,
        /// What goes into it.
        content: String,
    },
    /// A change of a file.
    Edit {
        /// Where it really is.
        path: PathBuf,
        /// The last part of that.
        file_name: String,
        /// The whole file before, filled in by who can read it.
        old_content: Option<String>,
        /// The whole file after.
        new_content: Option<String>,
    },
    /// A patch.
    ApplyPatch {
        /// Where the first file really is.
        path: PathBuf,
        /// The last part of that.
        file_name: String,
        /// The patch.
        patch: String,
        /// All files it touches.
        files: Vec<PathBuf>,
        /// The whole first file before, filled in by who can read it.
        old_content: Option<String>,
        /// The whole first file after.
        new_content: Option<String>,
    },
    /// A tool of an MCP server.
    McpTool {
        /// `server___tool`
        tool_name: String,
        /// The server.
        server: String,
        /// The server's own name of the tool.
        actual_tool: String,
    },
    /// A plan, and the wish to carry it out.
    ExitSpecMode {
        /// The plan.
        plan: String,
        /// What it is called.
        title: Option<String>,
        /// Names of alternatives.
        option_names: Vec<String>,
    },
    /// A tool that has no question of its own wants to go where it may not: `sandbox_violation` for clients.
    Beyond {
        /// The tool.
        tool: String,
        /// The path or address, or the tool again.
        target: String,
        /// What it would do there.
        operation: Operation,
        /// Why that is asked for.
        reason: String,
    },
}

impl Kind {
    /// The word clients know.
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

/// What a tool would do where it may not go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Read files.
    Read,
    /// Speak to somebody outside.
    Network,
    /// Something else.
    Tool,
}

impl Operation {
    /// The word clients know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Network => "network",
            Self::Tool => "tool",
        }
    }
}

/// An answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Choice {
    /// This time.
    ProceedOnce,
    /// And from now on everything that is no riskier.
    ProceedAlways,
    /// And from now on this tool of the MCP server.
    ProceedAlwaysTools,
    /// And from now on every tool of the MCP server.
    ProceedAlwaysServer,
    /// Carry the plan out with low autonomy.
    ProceedAutoRunLow,
    /// Carry the plan out with medium autonomy.
    ProceedAutoRunMedium,
    /// Carry the plan out with high autonomy.
    ProceedAutoRunHigh,
    /// Carry the plan out in a new session without autonomy.
    ProceedNewSession,
    /// Carry the plan out in a new session with low autonomy.
    ProceedNewSessionLow,
    /// Carry the plan out in a new session with medium autonomy.
    ProceedNewSessionMedium,
    /// Carry the plan out in a new session with high autonomy.
    ProceedNewSessionHigh,
    /// Carry the plan out as changed by who answers.
    ProceedEdit,
    /// No.
    Cancel,
}

impl Choice {
    /// What is offered for an ordinary call.
    pub(super) const CALL: &[Self] = &[Self::ProceedOnce, Self::ProceedAlways, Self::Cancel];
    /// What is offered for what is always asked for.
    pub(super) const ONCE: &[Self] = &[Self::ProceedOnce, Self::Cancel];
    /// What is offered for a tool of an MCP server.
    pub(super) const MCP: &[Self] = &[
        Self::ProceedOnce,
        Self::ProceedAlways,
        Self::ProceedAlwaysTools,
        Self::ProceedAlwaysServer,
        Self::Cancel,
    ];
    /// What is offered for a plan.
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

    /// The autonomy that is given with this answer to something of this risk.
    pub(super) fn given(self, risk: Risk) -> Autonomy {
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

    /// The word clients know.
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

    /// The answer of a word. One that is not known is no consent: take it as [`Choice::Cancel`].
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name)
    }
}
