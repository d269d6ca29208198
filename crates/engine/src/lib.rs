//! The agent itself: sessions, turns, consent, planning, MCP clients, and sessions on disk.
//!
//! A front starts an agent, gives it [`Command`]s and passes on its [`Event`]s, which come in the order clients see them.
//!
//! What is not here: the wire. Whoever serves a client turns its messages into commands and the events into messages.

mod agent;
mod command;
pub mod config;
pub mod context;
mod environment;
mod error;
mod event;
pub mod hooks;
pub mod mcp;
mod models;
mod session;
mod settings;
pub mod skills;

pub use agent::{AgentHandle, start};
pub use command::{
    Answer, Attach, Attachment, Command, Created, LoadSession, Loaded, McpCommand, NewSession, Prompt, Reply,
    Rewind, ServerTransport, SessionServer, SystemPrompt, Ticket, ToolFilter, Usage,
};
pub use context::Repository;
pub use environment::{Environment, Limits};
pub use error::{BrokenSettings, Busy, Error};
pub use event::{
    ChildStep, Event, Happening, HookResult, HookRun, Question, QuestionedCall, RetryReason, TitleCause,
    ToolPhase, TurnCompleted, TurnEnd, WorkingState,
};
pub use mcp::{McpToolView, ServerView};
pub use models::ModelView;
/// What messages are made of, for whoever passes them on.
pub use musher_message::{Content, Media, Message, Part, Proof, Role, Thinking, ToolUse, Visibility};
pub use musher_permission as permission;
pub use musher_permission::{Autonomy, Choice, Mode, PermissionRequest};
pub use musher_store as store;
pub use musher_store::SessionId;
pub use musher_tools::{
    Editor, EditorAnswer, EditorOffers, TerminalExit, TerminalOrder, TerminalOutput, UserQuestion,
};
pub use session::{ContextBreakdown, RewindInfo, ToolEntry};
pub use settings::{Effort, Settings, SettingsChange, Tag, ToolSelection};
pub use skills::{CommandView, SkillView};
