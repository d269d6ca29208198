//! Everything that happens in an agent, in the order in which clients see it.

use std::sync::Arc;
use std::time::Duration;

use musher_tools::UserQuestion;
use serde_json::{Map, Value};

use crate::command::{Reply, Ticket, Usage};
use crate::mcp::ServerView;
use crate::{Choice, Error, Message, PermissionRequest, SessionId, Settings};

/// One thing that happened.
#[derive(Debug)]
pub struct Event {
    /// The session it belongs to, if it belongs to one.
    pub session: Option<SessionId>,
    /// What.
    pub what: Happening,
}

/// What can happen.
#[derive(Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields say it")]
pub enum Happening {
    /// A command is done, or refused. Exactly one for each ticket.
    Reply { ticket: Ticket, outcome: Result<Reply, Error> },
    /// The agent is asked to wait, think, work ...
    State(WorkingState),
    /// A message is in the log.
    Message { message: Arc<Message>, ticket: Option<Ticket> },
    /// A piece of the answer's text.
    TextDelta { message_id: Arc<str>, block: usize, text: String },
    /// The text is complete.
    TextComplete { message_id: Arc<str>, block: usize },
    /// A piece of thinking.
    ThinkingDelta { message_id: Arc<str>, block: usize, text: String },
    /// The thinking is complete.
    ThinkingComplete { message_id: Arc<str>, block: usize, took: Duration },
    /// What was shown of this message counts for nothing.
    Retracted { message_id: Arc<str> },
    /// The model calls a tool: first with no input, then with all of it.
    ToolCall { id: String, name: String, input: Map<String, Value> },
    /// A call waits, or runs.
    ToolPhase { id: String, name: String, phase: ToolPhase },
    /// Output of a command that runs.
    ToolProgress {
        id: String,
        name: String,
        text: String,
        full_output: Option<String>,
        terminal: String,
        at_ms: i64,
    },
    /// A call is over. `message_id` is that of the message all results of one answer are in.
    ToolResult { id: String, message_id: Arc<str>, content: Vec<musher_tools::Part>, is_error: bool },
    /// Somebody has to decide. The answer comes through [`AgentHandle::answer`](crate::AgentHandle::answer).
    Question(Question),
    /// The same, and it is a subagent that wants to know: this one.
    ChildQuestion { session: SessionId, question: Question },
    /// A permission question is settled.
    PermissionResolved { question: String, tool_use_ids: Vec<String>, choice: Choice },
    /// A question needs no answer any more (its turn is over).
    QuestionWithdrawn { question: String },
    /// A turn is over.
    TurnCompleted(Box<TurnCompleted>),
    /// Tokens were used.
    Usage { total: Usage, inclusive: Usage, last_call: Option<Usage> },
    /// Settings are now so. `ticket` on the one that answers a command.
    Settings { settings: Box<Settings>, ticket: Option<Ticket> },
    /// The title is now so.
    Title { title: String, cause: TitleCause, ticket: Option<Ticket> },
    /// The answer, as JSON of the wished shape.
    StructuredOutput { message_id: Arc<str>, output: Value },
    /// Something went wrong that people should read.
    Problem { message: String, kind: String, name: Option<String> },
    /// The model is asked again.
    Retry { attempt: u32, reason: RetryReason },
    /// A message that waited was thrown away by an interrupt.
    Discarded { text: String, ticket: Option<Ticket> },
    /// MCP servers came or went.
    McpStatus(Vec<ServerView>),
    /// A login at an MCP server is over.
    McpAuthentication { server: String, outcome: String, message: String },
    /// Hooks run.
    HookStarted(Box<HookRun>),
    /// Hooks have run.
    HookCompleted(Box<HookRun>),
    /// The conversation was shortened in place.
    Compacted { summary_id: String, removed: usize, boundary: Option<String> },
    /// A subagent has a session of its own.
    Child { session: SessionId, tool_use_id: Option<String>, subagent: String, description: String },
    /// A subagent that is waited for goes on. `id` is that of the call.
    ChildProgress { id: String, session: SessionId, step: ChildStep },
    /// The agent is done: its client asked for it. The process may end.
    Closed,
}

/// What the agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkingState {
    /// Nothing.
    Idle,
    /// It waits for the model.
    Thinking,
    /// The model writes.
    Streaming,
    /// It waits for consent or an answer.
    Waiting,
    /// Tools run.
    Executing,
    /// The conversation is shortened.
    Compacting,
}

/// Where a tool call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolPhase {
    /// It waits.
    Queued,
    /// It runs.
    Executing,
}

/// What a subagent does.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say it")]
pub enum ChildStep {
    /// It says something.
    Said(String),
    /// It calls a tool.
    Called { name: String, input: Map<String, Value> },
    /// A call is over.
    Returned { name: String, snippet: String, is_error: bool },
}

/// Somebody has to decide.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields say it")]
pub enum Question {
    /// May these calls run?
    Permission { id: String, calls: Vec<QuestionedCall>, choices: Vec<Choice> },
    /// The model asks.
    Ask { id: String, tool_call_id: String, questions: Vec<UserQuestion> },
}

/// A call that needs consent.
#[derive(Debug, Clone)]
pub struct QuestionedCall {
    /// The id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Map<String, Value>,
    /// What is asked.
    pub request: PermissionRequest,
}

/// A turn is over.
#[derive(Debug, Clone)]
pub struct TurnCompleted {
    /// Which: the id of the user's message.
    pub turn_id: String,
    /// How it ended.
    pub reason: TurnEnd,
    /// What it used, with its subagents.
    pub usage: Usage,
    /// What the session has used, with its subagents.
    pub cumulative: Usage,
    /// What of that subagents of the turn used.
    pub child: Usage,
    /// What of that subagents of the session have used.
    pub cumulative_child: Usage,
    /// How long it took.
    pub took: Duration,
}

/// How a turn ended. The names are those of the wire.
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
    ModelProviderUnreachable,
    ModelProviderUnavailable,
    PromptRejected,
    CompletionPersistenceFailed,
}

impl TurnEnd {
    /// The word of the wire.
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
            Self::ModelRequestRejected => "model_request_rejected",
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

/// Why the model is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryReason {
    /// Too many requests.
    RateLimited,
    /// The provider is overloaded or broken.
    Overloaded,
    /// No connection, or too slow.
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
    /// The moment, such as `PreToolUse`.
    pub event: String,
    /// The pattern that matched.
    pub matcher: Option<String>,
    /// The commands: text and timeout in seconds.
    pub commands: Vec<(String, Option<u64>)>,
    /// The tool call it is about.
    pub tool_call_id: Option<String>,
    /// The message it is about.
    pub parent_id: Option<String>,
    /// Its place in the order.
    pub order: u64,
    /// What came of each command; empty while it runs.
    pub results: Vec<HookResult>,
    /// Whether it stopped something.
    pub prevented: bool,
}

impl HookRun {
    /// Whether a command did not end well.
    pub fn has_failed(&self) -> bool {
        self.results.iter().any(|result| result.exit_code != Some(0))
    }
}

/// What came of one hook command.
#[derive(Debug, Clone, Default)]
pub struct HookResult {
    /// The command.
    pub command: String,
    /// Its exit code; none if it was killed.
    pub exit_code: Option<i32>,
    /// What it said.
    pub stdout: String,
    /// What it complained.
    pub stderr: String,
    /// Its timeout in seconds.
    pub timeout: Option<u64>,
    /// Whether its output is hidden.
    pub suppress_output: bool,
}
