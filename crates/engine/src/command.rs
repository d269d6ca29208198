//! The commands of clients, and their replies. Plain data.
//!
//! Every command has a [`CommandId`]. Its outcome is an [`Event::Reply`](crate::Event::Reply) in the one ordered stream of events, so that
//! one place decides what comes before and after a reply.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use musher_tools::Editor;

use crate::SandboxSettings;
use crate::context::Repository;
use crate::event::{UserRequest, WorkingState};
use crate::mcp::{McpToolView, ServerView};
use crate::models::ModelView;
use crate::permission::Decision;
use crate::session::{ContextBreakdown, RewindInfo, ToolEntry};
use crate::skills::{CommandView, SkillView};
use crate::{Message, SessionId, Settings, SettingsChange, Tag};

pub use musher_model::Usage;

/// The id a client gives a command. Opaque to the engine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommandId(pub Arc<str>);

/// A command of a client.
#[derive(Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields say it")]
pub enum Command {
    /// Create a session, and leave the open one.
    Create(Box<NewSession>),
    /// Resume a session, or return the open one.
    Load(Box<LoadSession>),
    /// Send a prompt. Acknowledged once it is on disk; queued while a turn runs.
    Prompt(Box<Prompt>),
    /// Interrupt the turn, and discard waiting prompts.
    Interrupt,
    /// Change settings of the session.
    ChangeSettings(Box<SettingsChange>),
    /// Fork the session.
    Fork { title: Option<String>, tags: Option<Vec<Tag>> },
    /// Create a session that begins with a summary of this one.
    Compact { instructions: Option<String> },
    /// Set the title of the session.
    Rename { title: String },
    /// Close the session. The agent ends with it.
    Close { reason: Option<String> },
    /// List the files a rewind to a message would change.
    RewindInfo { session: String, message: String },
    /// Restore files, and fork the conversation before a message.
    Rewind(Box<Rewind>),
    /// Return the size of the context.
    ContextStats,
    /// Return what fills the context.
    ContextBreakdown,
    /// List the tools, as they would be with these settings.
    ListTools(Box<ToolFilter>),
    /// List the models.
    ListModels,
    /// List the skills.
    ListSkills,
    /// Switch a skill off or on.
    SetSkillDisabled { name: String, disabled: bool, level: Option<String> },
    /// List the slash commands.
    ListCommands,
    /// Manage MCP servers.
    Mcp(Box<McpCommand>),
    /// End a subagent.
    KillWorker { session: String },
}

/// A session to create.
#[derive(Debug, Default)]
pub struct NewSession {
    /// The id the client asks for.
    pub id: Option<String>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The settings of the client; others come from settings files.
    pub settings: SettingsChange,
    /// What applies to this process only.
    pub attach: Attach,
    /// A title, if the client gives one.
    pub title: Option<String>,
    /// The system prompt of the client.
    pub system_prompt: Option<SystemPrompt>,
    /// Other fields the client sent, stored with the session unchanged.
    pub extra: Map<String, Value>,
}

/// A session to resume.
#[derive(Debug, Default)]
pub struct LoadSession {
    /// Its id.
    pub id: String,
    /// Tool selection of this process.
    pub settings: SettingsChange,
    /// What applies to this process only.
    pub attach: Attach,
    /// Whether to continue the last turn if it was interrupted. Calls that had started are not repeated. Needs a session that an agent with
    /// [`Environment::with_call_records`](crate::Environment::with_call_records) has run.
    pub continues: ContinueTurn,
}

/// Which turn continues when its session is resumed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ContinueTurn {
    /// None.
    #[default]
    No,
    /// The last one, if it was interrupted.
    Last,
    /// The last one, if it was interrupted and is for one of these prompts.
    Of(Vec<String>),
}

/// What a client sets for a session in this process only.
#[derive(Debug, Clone, Default)]
pub struct Attach {
    /// MCP servers of the client.
    pub mcp_servers: Vec<SessionServer>,
    /// Deny calls that need permission instead of asking.
    pub auto_reject: bool,
    /// Allow all calls without asking.
    pub skip_permissions: bool,
    /// Leave out the built-in skills.
    pub disable_builtin_skills: bool,
    /// Additional folders of the workspace, by absolute paths; `None` keeps those of the session.
    pub directories: Option<Vec<PathBuf>>,
    /// The sandbox of commands. It takes precedence over that of the settings files, but not over that of the [`Environment`](crate::Environment).
    pub sandbox: SandboxSettings,
    /// The editor of the client: tools use what it offers.
    pub editor: Option<Arc<dyn Editor>>,
    /// Where the browser returns to after a login at an MCP server, if the client handles that.
    pub login_callback: Option<String>,
}

/// The system prompt of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemPrompt {
    /// Replaces the built-in system prompt.
    Replace(String),
    /// Is appended to the built-in system prompt.
    Append(String),
}

/// A prompt of the user.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    /// The id of the message and of the turn; one is made if absent.
    pub message_id: Option<String>,
    /// The text; a slash command is expanded.
    pub text: String,
    /// Images, before the text.
    pub images: Vec<musher_model::Media>,
    /// Documents, between images and text.
    pub files: Vec<Attachment>,
    /// The JSON schema the final response must match.
    pub output_schema: Option<Value>,
    /// The source of the prompt, as the client names it.
    pub source: Option<String>,
    /// Whether it gets its own turn even if it could join a running one.
    pub waits_for_end: bool,
    /// The trace that its turn belongs to, for the log: a valid `traceparent` of W3C Trace Context.
    pub trace_parent: Option<String>,
    /// Whether it waits while another process runs a turn of the session, instead of being refused.
    pub waits_for_session: bool,
}

/// A document.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say it")]
pub enum Attachment {
    /// Bytes, such as a PDF, with the text a client read from it.
    Bytes { media: musher_model::Media, path: Option<String>, parsed: Option<String> },
    /// Plain text.
    Text { text: String, name: Option<String>, mime: Option<String> },
}

/// Files to restore, and a message to fork before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewind {
    /// The session; only the open one can be rewound.
    pub session: String,
    /// The user's message to go back to; it is left out of the fork.
    pub message: String,
    /// Files to restore: path and content hash.
    pub restore: Vec<(PathBuf, String)>,
    /// Files to delete.
    pub delete: Vec<PathBuf>,
    /// The title of the fork.
    pub title: String,
}

/// Settings a list of tools is wanted for; what is absent is the session's.
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    /// Tool selection, mode, level and model.
    pub settings: SettingsChange,
    /// As if all calls were allowed without asking.
    pub skip_permissions: Option<bool>,
    /// Only these ids.
    pub ids: Option<Vec<String>>,
    /// Whether to include the schemas of arguments.
    pub schemas: bool,
}

/// An MCP server of a client or of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionServer {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub transport: ServerTransport,
    /// How the user logs in: `false`, or an object as in `mcp.json`.
    pub oauth: Option<Value>,
}

/// How an MCP server is reached.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say it")]
pub enum ServerTransport {
    /// A program that speaks on stdin and stdout.
    Stdio { command: String, args: Vec<String>, env: BTreeMap<String, String> },
    /// Streamable HTTP.
    Http { url: String, headers: Vec<(String, String)> },
    /// The older transport with server-sent events.
    Sse { url: String, headers: Vec<(String, String)> },
}

impl From<ServerTransport> for musher_config::Transport {
    fn from(transport: ServerTransport) -> Self {
        let secrets = |pairs: Vec<(String, String)>| {
            pairs.into_iter().map(|(name, value)| (name, musher_model::Secret::new(value))).collect()
        };
        match transport {
            ServerTransport::Stdio { command, args, env } => {
                Self::Stdio { command, args, env: secrets(env.into_iter().collect()) }
            }
            ServerTransport::Http { url, headers } => Self::Http { url, headers: secrets(headers) },
            ServerTransport::Sse { url, headers } => Self::Sse { url, headers: secrets(headers) },
        }
    }
}

/// A command about MCP servers.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields say it")]
pub enum McpCommand {
    /// List the configured servers.
    ListServers,
    /// List the tools of all servers.
    ListTools,
    /// List well-known servers.
    ListRegistry,
    /// Add a server to the user's file, or replace it.
    Add(SessionServer),
    /// Remove a server.
    Remove { server: String },
    /// Enable or disable a server.
    Toggle { server: String, enabled: bool },
    /// Enable or disable a tool.
    ToggleTool { server: String, tool: String, enabled: bool },
    /// Log in to a server.
    Authenticate { server: String },
    /// Cancel a login.
    CancelAuthentication { server: String },
    /// Delete a login.
    ClearAuthentication { server: String },
    /// Complete a login with a code.
    SubmitCode { server: String, code: String, state: String },
    /// Report the failure of a login.
    SubmitError { server: String, error: String, description: Option<String>, state: String },
}

/// The reply to a command.
#[derive(Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields say it")]
pub enum Reply {
    /// The command is done.
    Done,
    /// [`Command::Create`].
    Created(Box<Created>),
    /// [`Command::Load`].
    Loaded(Box<Loaded>),
    /// [`Command::Fork`].
    Forked { session: SessionId },
    /// [`Command::Compact`].
    Compacted { session: SessionId, removed: usize },
    /// [`Command::RewindInfo`].
    RewindInfo(Box<RewindInfo>),
    /// [`Command::Rewind`].
    Rewound {
        session: SessionId,
        restored: usize,
        deleted: usize,
        failed_restores: usize,
        failed_deletes: usize,
    },
    /// [`Command::ContextStats`].
    ContextStats { used: u64, limit: u64, is_exact: bool },
    /// [`Command::ContextBreakdown`].
    ContextBreakdown(Box<ContextBreakdown>),
    /// [`Command::ListTools`].
    Tools(Vec<ToolEntry>),
    /// [`Command::ListModels`].
    Models(Vec<ModelView>),
    /// [`Command::ListSkills`].
    Skills { skills: Vec<SkillView>, project_available: bool },
    /// [`Command::ListCommands`].
    Commands(Vec<CommandView>),
    /// [`McpCommand::ListServers`].
    McpServers(Vec<ServerView>),
    /// [`McpCommand::ListTools`].
    McpTools(Vec<McpToolView>),
    /// Whether the command has succeeded, where failure is not an error.
    Success(bool),
}

/// A session that was created.
#[derive(Debug)]
pub struct Created {
    /// Its id.
    pub id: SessionId,
    /// Its settings.
    pub settings: Settings,
    /// The models it could use.
    pub models: Vec<ModelView>,
    /// The repository it works in.
    pub repository: Option<Repository>,
}

/// A session that was loaded.
#[derive(Debug)]
pub struct Loaded {
    /// Its id.
    pub id: SessionId,
    /// Its messages, hidden ones too.
    pub messages: Vec<Arc<Message>>,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The working directory.
    pub cwd: PathBuf,
    /// When it last changed.
    pub updated_at_ms: Option<i64>,
    /// Its settings.
    pub settings: Settings,
    /// The models it could use.
    pub models: Vec<ModelView>,
    /// What the agent does right now.
    pub state: WorkingState,
    /// The tokens it has used.
    pub usage: Usage,
    /// The tokens its last model call has used.
    pub last_call: Option<Usage>,
    /// Requests that wait for a response of the user.
    pub requests: Vec<UserRequest>,
    /// Prompts that wait for their turn: id and text.
    pub queued: Vec<(Option<CommandId>, String)>,
    /// The repository it works in.
    pub repository: Option<Repository>,
}

/// A response to a [`UserRequest`]. Front ends turn malformed responses into a denial.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say it")]
pub enum UserResponse {
    /// The decision about a permission request.
    Decision(Decision),
    /// The answers to questions of the model: index and text.
    Answers(Vec<(usize, String)>),
    /// A denial of any request. The result of the call shows the reason.
    Denied { reason: Option<String> },
    /// A denial of a permission request after which the turn continues: the model reads the reason.
    DeniedForNow { reason: String },
    /// The user has changed the input of a call. It is checked again, as if the model had called it so.
    Rewritten { input: Map<String, Value> },
}
