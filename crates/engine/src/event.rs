//! Events of an agent, in the order in which clients see them.

use std::sync::Arc;
use std::time::Duration;

use musher_tools::UserQuestion;
use serde_json::{Map, Value};

use crate::command::{CommandId, Reply, Usage};
use crate::cost::Cost;
use crate::mcp::{PendingLogin, ServerView};
use crate::{Choice, Error, Message, PermissionRequest, SessionId, Settings};

/// An event with its session.
#[derive(Debug)]
pub struct SessionEvent {
    /// The session the event belongs to, if it belongs to one.
    pub session: Option<SessionId>,
    /// The event.
    pub event: Event,
}

/// Something that happened in an agent.
///
/// Messages, titles and settings are emitted after they are persisted.
#[derive(Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names of the fields say it")]
pub enum Event {
    /// A command is done or has failed. Exactly one for each [`CommandId`].
    Reply { command_id: CommandId, outcome: Result<Reply, Error> },
    /// The working state of the agent has changed.
    State(WorkingState),
    /// A message is in the log.
    Message { message: Arc<Message>, command_id: Option<CommandId> },
    /// A piece of the text of a response.
    TextDelta { message_id: Arc<str>, block: usize, text: String },
    /// A text block is complete.
    TextComplete { message_id: Arc<str>, block: usize },
    /// A piece of thinking.
    ThinkingDelta { message_id: Arc<str>, block: usize, text: String },
    /// A thinking block is complete.
    ThinkingComplete { message_id: Arc<str>, block: usize, took: Duration },
    /// Deltas of this message so far are void.
    Retracted { message_id: Arc<str> },
    /// The model calls a tool. Emitted twice: without input, then with the complete input.
    ToolCall { id: String, name: String, input: Map<String, Value> },
    /// A call was queued, or runs.
    ToolPhase { id: String, name: String, phase: ToolPhase },
    /// Output of a running command.
    ToolProgress {
        id: String,
        name: String,
        text: String,
        full_output: Option<String>,
        terminal: String,
        at_ms: i64,
    },
    /// A call has ended. `message_id` is the message with all results of one response.
    ToolResult { id: String, message_id: Arc<str>, content: Vec<musher_tools::Part>, is_error: bool },
    /// The user has to respond, through [`AgentHandle::respond`](crate::AgentHandle::respond).
    UserRequest(UserRequest),
    /// The user has to respond to a request of this subagent.
    SubagentRequest { session: SessionId, request: UserRequest },
    /// A permission request is resolved.
    PermissionResolved { request: String, tool_use_ids: Vec<String>, choice: Choice },
    /// A request needs no response any more, because its turn is over.
    RequestWithdrawn { request: String },
    /// A turn is over.
    TurnCompleted(Box<TurnCompleted>),
    /// Tokens were used. `cost` is that of `total`.
    Usage { total: Usage, inclusive: Usage, last_call: Option<Usage>, cost: Cost },
    /// The settings have changed. `command_id` is set on the event that answers a command.
    Settings { settings: Box<Settings>, command_id: Option<CommandId> },
    /// The title has changed.
    Title { title: String, cause: TitleCause, command_id: Option<CommandId> },
    /// The response, as JSON that matches the requested schema.
    StructuredOutput { message_id: Arc<str>, output: Value },
    /// A problem the user should read.
    Problem { message: String, kind: String, name: Option<String> },
    /// The model is called again after this delay. `message` is the error of the failed attempt.
    Retry { attempt: u32, reason: RetryReason, delay: Duration, message: String },
    /// An interrupt has discarded a waiting message.
    Discarded { text: String, command_id: Option<CommandId> },
    /// The state of MCP servers has changed.
    McpStatus(Vec<ServerView>),
    /// The user has to open a URL to log in to an MCP server.
    McpLogin { server: String, login: PendingLogin },
    /// A login at an MCP server has ended.
    McpAuthentication { server: String, outcome: String, message: String },
    /// Hooks have started.
    HookStarted(Box<HookRun>),
    /// Hooks have ended.
    HookCompleted(Box<HookRun>),
    /// The conversation was compacted in place.
    Compacted { summary_id: String, removed: usize, boundary: Option<String> },
    /// A subagent was started, with its own session.
    SubagentStarted { session: SessionId, tool_use_id: Option<String>, subagent: String, description: String },
    /// A subagent has made a step while its call waits. `id` is the id of the call.
    SubagentProgress { id: String, session: SessionId, step: SubagentStep },
    /// The agent has ended because its client has closed the session. The process may end.
    Closed,
}

impl Event {
    /// Creates a problem of the kind `Error`.
    pub(crate) fn problem(message: String, name: &str) -> Self {
        Self::Problem { message, kind: "Error".to_owned(), name: Some(name.to_owned()) }
    }
}

/// What the agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkingState {
    /// Nothing.
    Idle,
    /// It waits for the model.
    Thinking,
    /// It receives a response of the model.
    Streaming,
    /// It waits for a response of the user.
    Waiting,
    /// It runs tools.
    Executing,
    /// It compacts the conversation.
    Compacting,
}

/// The phase of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolPhase {
    /// It waits.
    Queued,
    /// It runs.
    Executing,
}

/// A step of a subagent.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names of the fields say it")]
pub enum SubagentStep {
    /// A message of its model.
    Message(String),
    /// A tool call.
    ToolCall { name: String, input: Map<String, Value> },
    /// The result of a tool call.
    ToolResult { name: String, snippet: String, is_error: bool },
}

/// A request the user has to respond to.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of the fields say it")]
pub enum UserRequest {
    /// A permission request: may these calls run?
    Permission { id: String, calls: Vec<RequestedCall>, choices: Vec<Choice> },
    /// Questions of the model.
    Questions { id: String, tool_call_id: String, questions: Vec<UserQuestion> },
}

impl UserRequest {
    /// Returns the id of the request, which its response names.
    pub fn id(&self) -> &str {
        match self {
            Self::Permission { id, .. } | Self::Questions { id, .. } => id,
        }
    }
}

/// A call that needs permission.
#[derive(Debug, Clone)]
pub struct RequestedCall {
    /// The id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub input: Map<String, Value>,
    /// The request of the permission rules.
    pub request: PermissionRequest,
}

/// A turn is over.
#[derive(Debug, Clone)]
pub struct TurnCompleted {
    /// The id of the turn: that of the user's message.
    pub turn_id: String,
    /// How it ended.
    pub reason: TurnEnd,
    /// The tokens it has used, with its subagents.
    pub usage: Usage,
    /// The tokens the session has used, with its subagents.
    pub cumulative: Usage,
    /// The part of `usage` that subagents have used.
    pub child: Usage,
    /// The part of `cumulative` that subagents have used.
    pub cumulative_child: Usage,
    /// What `usage` costs.
    pub cost: Cost,
    /// How long it took.
    pub took: Duration,
}

/// How a turn has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TurnEnd {
    Completed,
    Cancelled,
    PermissionRejected,
    Error,
    ProcessExit,
    SpecHandoff,
    StructuredOutputMissing,
    StructuredOutputInvalid,
    StructuredOutputSchemaInvalid,
    ModelUsageExhausted,
    ModelAuthenticationFailed,
    ModelRequestRejected,
    ModelRefused,
    ModelProviderUnreachable,
    ModelProviderUnavailable,
    PromptRejected,
    CompletionPersistenceFailed,
}

impl TurnEnd {
    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::PermissionRejected => "permission_rejected",
            Self::Error => "error",
            Self::ProcessExit => "process_exit",
            Self::SpecHandoff => "spec_handoff",
            Self::StructuredOutputMissing => "structured_output_missing",
            Self::StructuredOutputInvalid => "structured_output_invalid",
            Self::StructuredOutputSchemaInvalid => "structured_output_schema_invalid",
            Self::ModelUsageExhausted => "model_usage_exhausted",
            Self::ModelAuthenticationFailed => "model_authentication_failed",
            // clients know a fixed list of names: a refusal has a name in the error that comes with it
            Self::ModelRequestRejected | Self::ModelRefused => "model_request_rejected",
            Self::ModelProviderUnreachable => "model_provider_unreachable",
            Self::ModelProviderUnavailable => "model_provider_unavailable",
            Self::PromptRejected => "prompt_rejected",
            Self::CompletionPersistenceFailed => "completion_persistence_failed",
        }
    }
}

/// Why a title changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitleCause {
    /// It is the beginning of the first message.
    FirstMessage,
    /// The model made it.
    Model,
    /// The user gave it.
    Manual,
}

/// Why the model is called again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryReason {
    /// Too many requests.
    RateLimited,
    /// The provider is overloaded or broken.
    Overloaded,
    /// No connection, or a timeout.
    Timeout,
    /// The answer was empty.
    EmptyResponse,
    /// Anything else.
    Other,
}

/// A group of hook commands.
#[derive(Debug, Clone, Default)]
pub struct HookRun {
    /// Its id.
    pub id: String,
    /// The event, such as `PreToolUse`.
    pub event: String,
    /// The pattern that matched.
    pub matcher: Option<String>,
    /// The commands: text and timeout in seconds.
    pub commands: Vec<(String, Option<u64>)>,
    /// The tool call it is about.
    pub tool_call_id: Option<String>,
    /// The message it is about.
    pub parent_id: Option<String>,
    /// Its start time in microseconds, by which clients sort runs.
    pub order: u64,
    /// The result of each command; empty while they run.
    pub results: Vec<HookResult>,
    /// Whether it has prevented something.
    pub prevented: bool,
}

impl HookRun {
    /// Returns whether a command has failed.
    pub fn has_failed(&self) -> bool {
        self.results.iter().any(|result| result.exit_code != Some(0))
    }
}

/// The result of one hook command.
#[derive(Debug, Clone, Default)]
pub struct HookResult {
    /// The command.
    pub command: String,
    /// Its exit code; `None` if it was killed.
    pub exit_code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its timeout in seconds.
    pub timeout: Option<u64>,
    /// Whether its output is hidden.
    pub suppress_output: bool,
}
