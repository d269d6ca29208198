//! The interface between a session and its agent: the Claude Code CLI, or an agent that the SDK drives.
//!
//! An agent that sends messages in the format of `sdk.message`, asks the same questions and accepts the same calls can implement [`Agent`];
//! nothing above it depends on the kind of agent.

mod claude;
mod droid;

use musher_claude::{Call, Extra, HookOutput, Json, Permission};
use musher_rpc::{Closed, Exit};
use serde_json::{Map, Value};

pub(crate) use claude::Claude;
pub(crate) use droid::{Droid, ModelNames, SessionPlan};

use crate::wire::request::PromptContent;

/// A running agent.
pub(crate) trait Agent: Send + Sized + 'static {
    /// Identifies a call or a question.
    type Key: Clone + PartialEq + Eq + std::hash::Hash + Send + Sync + std::fmt::Debug + 'static;

    /// Waits until the agent is ready. Earlier events are kept for [`next`](Self::next).
    fn greet(&mut self) -> impl Future<Output = Result<Greeting, Failure>> + Send;
    /// Returns the next event. Cancel-safe.
    fn next(&mut self) -> impl Future<Output = Result<Event<Self::Key>, Gone>> + Send;
    /// Returns an event that is available without waiting, if any; not necessarily every such event.
    fn more(&mut self) -> Option<Event<Self::Key>>;
    /// Sends a user message. Never waits.
    fn user(&mut self, content: PromptContent) -> Result<(), String>;
    /// Sends a call. Never waits.
    fn call(&mut self, call: &Call) -> Result<Self::Key, String>;
    /// Drops a call: its response is ignored.
    fn forget(&mut self, key: &Self::Key);
    /// Answers a question. Never waits.
    fn answer(&mut self, key: &Self::Key, answer: &Answer) -> Result<(), String>;
    /// Ends the agent with everything it started.
    fn end(self) -> impl Future<Output = ()> + Send;
}

/// An event of an agent.
#[derive(Debug)]
pub(crate) enum Event<K> {
    /// A message, as JSON on one line.
    Message(String),
    /// The response to a call.
    Answered { key: K, outcome: Result<Json, String> },
    /// A question for the front end.
    Question { key: K, kind: QuestionKind, payload: Extra },
    /// A question was cancelled.
    Cancelled { key: K },
    /// The slash commands changed. Comes before the message that reports it.
    Commands(Json),
    /// An error of the agent, for the front end.
    Trouble(String),
    /// A line for the log.
    Note(String),
    /// Nothing to report.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionKind {
    Permission,
    Hook,
}

/// The front end's answer, or the default after a timeout.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Permission(Permission),
    Hook(HookOutput),
}

/// The properties of a session, known when the agent is ready.
#[derive(Debug, Clone)]
pub(crate) struct Greeting {
    /// The agent's own id of the session.
    pub(crate) session_id: String,
    pub(crate) models: Json,
    pub(crate) commands: Json,
    /// `None` if the agent does not report the account.
    pub(crate) account: Option<Json>,
}

/// Why an agent did not start.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) details: Value,
}

/// The agent has ended.
#[derive(Debug)]
pub(crate) struct Gone {
    pub(crate) reason: String,
    /// How its program ended, if it has one.
    pub(crate) details: Map<String, Value>,
}

impl From<Closed> for Gone {
    fn from(closed: Closed) -> Self {
        Self {
            reason: musher_rpc::with_causes(&closed).to_string(),
            details: closed.exit().map(exit_details).unwrap_or_default(),
        }
    }
}

fn exit_details(exit: &Exit) -> Map<String, Value> {
    #[cfg(unix)]
    let signal = exit.status.and_then(|status| std::os::unix::process::ExitStatusExt::signal(&status));
    #[cfg(not(unix))]
    let signal = None;
    ended_details(exit.status.and_then(|status| status.code()), signal, &exit.stderr_tail)
}

/// Returns how a program ended, for the details of an error.
fn ended_details(code: Option<i32>, signal: Option<i32>, stderr: &str) -> Map<String, Value> {
    let mut details = Map::new();
    if let Some(code) = code {
        details.insert("exit_code".to_owned(), code.into());
    }
    if let Some(signal) = signal {
        details.insert("signal".to_owned(), signal.into());
    }
    details.insert("stderr".to_owned(), stderr.into());
    details
}
