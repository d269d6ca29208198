//! What a session needs of an agent, whichever it is: the Claude Code CLI, or one that the SDK can drive.
//!
//! This is the seam: an agent that tells messages in the shape of `sdk.message`, asks the same questions and takes the same
//! calls can be put behind [`Agent`]; nothing above it knows which one it is.

mod claude;
mod droid;

use musher_claude::{Call, Extra, HookOutput, Json, Permission};
use musher_rpc::{Closed, Exit};
use serde_json::{Map, Value};

pub(crate) use claude::Claude;
pub(crate) use droid::{Droid, Plan};

use crate::wire::request::Said;

/// An agent at work.
pub(crate) trait Agent: Send + Sized + 'static {
    /// Names a call or a question.
    type Key: Clone + PartialEq + Eq + std::hash::Hash + Send + Sync + std::fmt::Debug + 'static;

    /// Waits until it is ready. What it says before is kept for [`next`](Self::next).
    fn greet(&mut self) -> impl Future<Output = Result<Greeting, Failure>> + Send;
    /// What it says next; loses nothing if dropped.
    fn next(&mut self) -> impl Future<Output = Result<Event<Self::Key>, Gone>> + Send;
    /// What it has said already, without waiting; not necessarily all of it.
    fn more(&mut self) -> Option<Event<Self::Key>>;
    /// Tells it what the user says. Never waits.
    fn user(&mut self, said: Said) -> Result<(), String>;
    /// Asks it something. Never waits.
    fn call(&mut self, call: &Call) -> Result<Self::Key, String>;
    /// Nobody waits for the answer any more.
    fn forget(&mut self, key: &Self::Key);
    /// Answers its question. Never waits.
    fn answer(&mut self, key: &Self::Key, answer: &Answer) -> Result<(), String>;
    /// Ends it, with all it started.
    fn end(self) -> impl Future<Output = ()> + Send;
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

/// What an agent tells when it is ready.
#[derive(Debug, Clone)]
pub(crate) struct Greeting {
    /// Its own id of the session.
    pub(crate) session_id: String,
    pub(crate) models: Json,
    pub(crate) commands: Json,
    /// Not every agent tells whose account it uses.
    pub(crate) account: Option<Json>,
}

/// Why an agent did not start.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) details: Value,
}

/// An agent is there no more.
#[derive(Debug)]
pub(crate) struct Gone {
    pub(crate) reason: String,
    /// How its program ended, if it is one.
    pub(crate) details: Map<String, Value>,
}

impl From<Closed> for Gone {
    fn from(closed: Closed) -> Self {
        Self { reason: closed.to_string(), details: closed.exit().map(exit_details).unwrap_or_default() }
    }
}

fn exit_details(exit: &Exit) -> Map<String, Value> {
    #[cfg(unix)]
    let signal = exit.status.and_then(|status| std::os::unix::process::ExitStatusExt::signal(&status));
    #[cfg(not(unix))]
    let signal = None;
    ended_details(exit.status.and_then(|status| status.code()), signal, &exit.stderr_tail)
}

/// How a program ended, for the details of an error.
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
