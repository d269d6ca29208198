//! Everything a client can ask of an agent, and what it gets back.
//!
//! Plain data. Every command carries a [`Ticket`]; its outcome comes back as [`Happening::Reply`](crate::Happening::Reply) in the one
//! ordered stream of events, so that what comes before and after an answer is decided in one place.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::context::Repository;
use crate::event::{Question, WorkingState};
use crate::mcp::{McpToolView, ServerView};
use crate::models::ModelView;
use crate::session::{ContextBreakdown, RewindInfo, ToolEntry};
use crate::skills::{CommandView, SkillView};
use crate::{Choice, Message, SessionId, Settings, SettingsChange, Tag};

pub use musher_model::Usage;

/// The client's own name for a request. Opaque to the engine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ticket(pub Arc<str>);

/// What a client can ask.
#[derive(Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields say it")]
pub enum Command {
    /// Begin a session, and leave the one that was open.
    Create(Box<NewSession>),
    /// Go on with a session, or look at the one that is open.
    Load(Box<LoadSession>),
    /// Say something. Acknowledged once it is on disk; waits its turn while another runs.
    Prompt(Box<Prompt>),
    /// Stop the turn and forget what waits.
    Interrupt,
    /// Change settings of the session.
    ChangeSettings(Box<SettingsChange>),
    /// Copy the session.
    Fork { title: Option<String>, tags: Option<Vec<Tag>> },
    /// A new session that begins with a summary of this one.
    Compact { instructions: Option<String> },
    /// Give the session a title.
    Rename { title: String },
    /// End the session; the process ends with it.
    Close { reason: Option<String> },
    /// Which files a rewind to a message would touch.
    RewindInfo { session: String, message: String },
    /// Put files back, and fork the conversation before a message.
    Rewind(Box<Rewind>),
    /// How full the context is.
    ContextStats,
    /// What fills it.
    ContextBreakdown,
    /// The tools, as they would be with these settings.
    ListTools(Box<ToolFilter>),
    /// The models.
    ListModels,
    /// The skills.
    ListSkills,
    /// Switch a skill off or on.
    SetSkillDisabled { name: String, disabled: bool, level: Option<String> },
    /// The slash commands.
    ListCommands,
    /// Something about MCP servers.
    Mcp(Box<McpCommand>),
    /// End a subagent.
    KillWorker { session: String },
}

/// A session to begin.
#[derive(Debug, Default)]
pub struct NewSession {
    /// The id the client wishes.
    pub id: Option<String>,
    /// Where it works.
    pub cwd: PathBuf,
    /// The settings the client gives; the rest comes from the files.
    pub settings: SettingsChange,
    /// What only holds for this process.
    pub attach: Attach,
    /// A title, if the client gives one.
    pub title: Option<String>,
    /// The system prompt: instead of ours, or after it.
    pub system_prompt: Option<SystemPrompt>,
    /// Anything else the client sent that is kept with the session, as it came.
    pub extra: Map<String, Value>,
}

/// A session to go on with.
#[derive(Debug, Default)]
pub struct LoadSession {
    /// Which.
    pub id: String,
    /// Tool selection of this process.
    pub settings: SettingsChange,
    /// What only holds for this process.
    pub attach: Attach,
}

/// What a client gives a session for as long as the process lives.
#[derive(Debug, Clone, Default)]
pub struct Attach {
    /// MCP servers of the client.
    pub mcp_servers: Vec<SessionServer>,
    /// Refuse instead of asking.
    pub auto_reject: bool,
    /// Never ask.
    pub skip_permissions: bool,
    /// Leave out the skills that come with the engine.
    pub disable_builtin_skills: bool,
    /// Further folders that belong to the workspace, by absolute paths; `None` for those the session had.
    pub directories: Option<Vec<PathBuf>>,
}

/// The system prompt of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemPrompt {
    /// Instead of ours.
    Replace(String),
    /// After ours.
    Append(String),
}

/// Something to say.
#[derive(Debug, Default)]
pub struct Prompt {
    /// The id of the message and of the turn; one is made if absent.
    pub message_id: Option<String>,
    /// The text; a slash command is expanded.
    pub text: String,
    /// Pictures, before the text.
    pub images: Vec<musher_model::Media>,
    /// Documents, between pictures and text.
    pub files: Vec<Attachment>,
    /// The answer must be JSON of this shape.
    pub output_schema: Option<Value>,
    /// Who says it, as the client names it.
    pub source: Option<String>,
    /// Whether it gets a turn of its own, even if one runs that it could join.
    pub waits_for_end: bool,
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

/// Files to put back, and a message to fork before.
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
    /// As if nothing was ever asked.
    pub skip_permissions: Option<bool>,
    /// Only these.
    pub ids: Option<Vec<String>>,
    /// With the schema of the arguments.
    pub schemas: bool,
}

/// An MCP server of a client or of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionServer {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub transport: ServerTransport,
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

/// Something about MCP servers.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields say it")]
pub enum McpCommand {
    /// The configured servers.
    ListServers,
    /// The tools of all servers.
    ListTools,
    /// Well-known servers.
    ListRegistry,
    /// Add a server to the user's file, or replace it.
    Add(SessionServer),
    /// Take it out.
    Remove { server: String },
    /// Switch it.
    Toggle { server: String, enabled: bool },
    /// Switch one tool.
    ToggleTool { server: String, tool: String, enabled: bool },
    /// Log in.
    Authenticate { server: String },
    /// Stop logging in.
    CancelAuthentication { server: String },
    /// Forget the login.
    ClearAuthentication { server: String },
    /// The code of a login.
    SubmitCode { server: String, code: String, state: String },
    /// The failure of a login.
    SubmitError { server: String, error: String, state: String },
}

/// What came of a command.
#[derive(Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields say it")]
pub enum Reply {
    /// Nothing to say but that it is done.
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
    /// Whether it worked, where that is an answer and not an error.
    Success(bool),
}

/// A session that was begun.
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
    /// Where it works.
    pub cwd: PathBuf,
    /// When it last changed.
    pub updated_at_ms: Option<i64>,
    /// Its settings.
    pub settings: Settings,
    /// The models it could use.
    pub models: Vec<ModelView>,
    /// What it does right now.
    pub state: WorkingState,
    /// What it has used.
    pub usage: Usage,
    /// What its last model call used.
    pub last_call: Option<Usage>,
    /// Questions that wait for an answer.
    pub questions: Vec<Question>,
    /// Messages that wait for their turn: id and text.
    pub queued: Vec<(Option<Ticket>, String)>,
    /// The repository it works in.
    pub repository: Option<Repository>,
}

/// An answer to a [`Question`]. What is malformed is for the front to turn into a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say it")]
pub enum Answer {
    /// To a permission question.
    Permission { choice: Choice, edited_plan: Option<String> },
    /// To questions of the model: the text of each answer, by index.
    Questions(Vec<(usize, String)>),
    /// No, and why; the reason is shown in the tool's result if there is one.
    Refused { reason: Option<String> },
}
