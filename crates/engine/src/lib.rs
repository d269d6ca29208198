//! The agent: sessions, turns, permission requests, spec mode, hooks, MCP clients, subagents.
//!
//! A front end starts an agent, submits [`Command`]s and forwards its [`SessionEvent`]s, which come in the order clients see them.
//!
//! The engine knows no wire protocol: the front end turns messages of its client into commands, and events into messages.

mod agent;
mod budget;
mod command;
pub mod context;
mod cost;
mod environment;
mod error;
mod event;
pub mod hooks;
mod models;
mod refresh;
mod sandbox;
mod session;
mod settings;
mod unfinished;

pub use agent::{AgentHandle, AgentInbox, Control, start};
pub use budget::Budget;
pub use command::{
    Attach, Attachment, Command, CommandId, ContinueTurn, Created, LoadSession, Loaded, McpCommand,
    NewSession, Prompt, Reply, Rewind, ServerTransport, SessionServer, SystemPrompt, ToolFilter, Usage,
    UserResponse,
};
pub use context::Repository;
pub use cost::{Cost, Ledger, Spending};
pub use environment::{Environment, Limits};
pub use error::{BrokenSettings, Busy, Error};
pub use event::{
    Event, HookResult, HookRun, RequestedCall, RetryReason, SessionEvent, SubagentStep, TitleCause,
    ToolPhase, TurnCompleted, TurnEnd, UserRequest, WorkingState,
};
pub use models::ModelView;
pub use musher_config as config;
pub use musher_config::skills;
pub use musher_config::skills::{CommandView, SkillView};
pub use musher_config::{SandboxMode, SandboxNetwork, SandboxSettings};
pub use musher_mcp as mcp;
pub use musher_mcp::{LoginState, McpToolView, PendingLogin, ServerView};
/// The parts of messages, for front ends.
pub use musher_message::{Content, Media, Message, Part, Proof, Role, Thinking, ToolUse, Visibility};
pub use musher_permission as permission;
pub use musher_permission::{Autonomy, Choice, Decision, Mode, PermissionRequest};
pub use musher_store as store;
pub use musher_store::SessionId;
pub use musher_tools::{
    Editor, EditorAnswer, EditorOffers, LAUNCH_COMMAND, Layers, Sandbox, TerminalExit, TerminalOrder,
    TerminalOutput, UserQuestion, looks_like_credential,
};
pub use refresh::{VendorList, refresh_models};
pub use session::{ContextBreakdown, RewindInfo, ToolEntry};
pub use settings::{Effort, Settings, SettingsChange, Tag, ToolSelection};
