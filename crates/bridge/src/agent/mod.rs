//! What a session needs of an agent, whichever it is. The only one so far is the Claude Code CLI.
//!
//! This is the seam for others: an agent that tells messages in the shape of `sdk.message`, asks the same questions and takes
//! the same calls can be put behind [`Agent`]; nothing above it knows which one it is.

mod claude;

use std::sync::Arc;

use musher_claude::{Call, Extra, HookOutput, Json, Permission, UserMessage};
use musher_rpc::{Closed, Exit};
use serde_json::Value;

pub(crate) use claude::Claude;

/// An agent at work.
pub(crate) trait Agent: Send + Sized + 'static {
    /// Names a call or a question.
    type Key: Clone + PartialEq + Eq + std::hash::Hash + Send + Sync + std::fmt::Debug + 'static;

    /// Waits until it is ready. What it says before is kept for [`next`](Self::next).
    fn greet(&mut self) -> impl Future<Output = Result<Greeting, Failure>> + Send;
    /// What it says next; loses nothing if dropped.
    fn next(&mut self) -> impl Future<Output = Result<Event<Self::Key>, Closed>> + Send;
    /// Tells it what the user says. Never waits.
    fn user(&mut self, message: &UserMessage) -> Result<(), String>;
    /// Asks it something. Never waits.
    fn call(&mut self, call: &Call) -> Result<Self::Key, String>;
    /// Nobody waits for the answer any more.
    fn forget(&mut self, key: &Self::Key);
    /// Answers its question. Never waits.
    fn answer(&mut self, key: &Self::Key, answer: &Answer) -> Result<(), String>;
    /// Ends it, with all it started.
    fn end(self) -> impl Future<Output = Arc<Exit>> + Send;
}

/// What an agent says.
#[derive(Debug)]
pub(crate) enum Event<K> {
    /// A message, as JSON on one line.
    Message(String),
    /// The answer to a call.
    Answered { key: K, outcome: Result<Json, String> },
    /// A question for the front end.
    Question { key: K, kind: QuestionKind, payload: Extra },
    /// A question is taken back.
    Cancelled { key: K },
    /// The slash commands are others now. Comes before the message that tells it.
    Commands(Json),
    /// Something is wrong with what it says.
    Trouble(String),
    /// For the log.
    Note(String),
    /// Nothing for anybody.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionKind {
    Permission,
    Hook,
}

/// What the front end answered, or somebody in its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Permission(Permission),
    Hook(HookOutput),
}

/// What an agent can do.
#[derive(Debug, Clone)]
pub(crate) struct Greeting {
    pub(crate) models: Json,
    pub(crate) commands: Json,
    pub(crate) account: Json,
}

/// Why an agent did not start.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) details: Value,
}

/// How a program ended, for the details of an error.
pub(crate) fn exit_details(exit: &Exit) -> serde_json::Map<String, Value> {
    let mut details = serde_json::Map::new();
    if let Some(status) = exit.status {
        if let Some(code) = status.code() {
            details.insert("exit_code".to_owned(), code.into());
        }
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            details.insert("signal".to_owned(), signal.into());
        }
    }
    details.insert("stderr".to_owned(), exit.stderr_tail.clone().into());
    details
}
