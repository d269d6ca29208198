//! The agent itself: sessions, turns, consent, planning, MCP clients, and sessions on disk.
//!
//! A front starts an agent, gives it [`Command`]s and passes on its [`Event`]s, which come in the order clients see them.
//!
//! What is not here: the wire. Whoever serves a client turns its messages into commands and the events into messages.

mod agent;
mod ask_user;
mod command;
pub mod config;
pub mod context;
mod environment;
mod error;
mod event;
pub mod hooks;
pub mod mcp;
mod message;
mod models;
pub mod permission;
mod session;
mod settings;
pub mod skills;
pub mod store;

pub use agent::{AgentHandle, start};
pub use command::{
    Answer, Attach, Attachment, Command, CommandView, ContextBreakdown, Created, LoadSession, Loaded,
    McpCommand, McpToolView, ModelView, NewSession, Prompt, Reply, Repository, Rewind, RewindInfo,
    ServerTransport, ServerView, SessionServer, SkillView, SystemPrompt, Ticket, ToolEntry, ToolFilter,
    Usage,
};
pub use environment::{Environment, Limits};
pub use error::{Busy, Error};
pub use event::{
    ChildStep, Event, Happening, HookResult, HookRun, Question, QuestionedCall, RetryReason, TitleCause,
    ToolPhase, TurnCompleted, TurnEnd, UserQuestion, WorkingState,
};
pub use message::{Content, Message, Role, Visibility, plain_text};
/// What messages are made of, for whoever passes them on.
pub use musher_model::{Media, Proof, Thinking, ToolUse};
pub use musher_tools::{
    Editor, EditorAnswer, EditorOffers, Part, TerminalExit, TerminalOrder, TerminalOutput,
};
pub use permission::{Autonomy, Choice, Mode, PermissionRequest};
pub use settings::{Effort, Settings, SettingsChange, Tag, ToolSelection};
pub use store::SessionId;
