//! What the bridge writes: one function for each kind of line.

use musher_claude::{Extra, Json};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The words for what went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Code {
    /// A line that is no message, or not one of the protocol.
    InvalidMessage,
    /// There is no session with this id, or not any more.
    SessionNotFound,
    /// The session did not start.
    SessionCreateFailed,
    /// The front end did not answer in time; the agent was answered in its place.
    CallbackTimeout,
    /// There is no such question, or not any more.
    CallbackNotFound,
    /// The agent did not answer a call.
    QueryMethodFailed,
    /// Something is wrong with the agent.
    SdkError,
}

/// An error for the front end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ErrorPayload {
    /// For programs.
    pub(crate) code: Code,
    /// For people.
    pub(crate) message: String,
    /// More, depending on the code: `path` and `expected`, or `phase`, `exit_code`, `signal`, `stderr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Value>,
}

impl ErrorPayload {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None }
    }

    pub(crate) fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The line; with the ids that are known.
    pub(crate) fn frame(&self, id: Option<&str>, session_id: Option<&str>) -> String {
        print(&Frame { r#type: "error", id, session_id, payload: self })
    }
}

/// The result of a `query.call`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueryResult {
    /// Whether the method did what it should.
    success: bool,
    /// What it gave; null if there is nothing to give.
    #[schemars(with = "Value")]
    result: Json,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The id to resume the session with later.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Created<'a> {
    /// The agent's own id of the session.
    sdk_session_id: &'a str,
}

pub(crate) fn created(id: &str, session_id: &str, sdk_session_id: &str) -> String {
    frame("session.created", id, session_id, &Created { sdk_session_id })
}

pub(crate) fn interrupted(id: &str, session_id: &str) -> String {
    frame("session.interrupted", id, session_id, &Extra::default())
}

pub(crate) fn killed(id: &str, session_id: &str) -> String {
    frame("session.killed", id, session_id, &Extra::default())
}

pub(crate) fn callback_request(id: &str, session_id: &str, payload: &Extra) -> String {
    frame("callback.request", id, session_id, payload)
}

pub(crate) fn query_result(id: &str, session_id: &str, outcome: Result<Json, String>) -> String {
    let payload = match outcome {
        Ok(result) => QueryResult { success: true, result, error: None },
        Err(error) => QueryResult { success: false, result: Json::null(), error: Some(error) },
    };
    frame("query.result", id, session_id, &payload)
}

/// A message of the agent, in parts: it is not read again, but is JSON on one line, and stays what it is.
pub(crate) fn sdk_message<'a>(session_id: &'a str, message: &'a str) -> [&'a str; 5] {
    // a session id of ours needs no escaping
    ["{\"type\":\"sdk.message\",\"session_id\":\"", session_id, "\",\"payload\":", message, "}"]
}

#[derive(Serialize)]
struct Frame<'a, P> {
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    payload: &'a P,
}

fn frame<P: Serialize>(kind: &str, id: &str, session_id: &str, payload: &P) -> String {
    print(&Frame { r#type: kind, id: Some(id), session_id: Some(session_id), payload })
}

/// The types above have string keys only and hold valid JSON, so printing them cannot fail.
fn print<T: Serialize>(line: &T) -> String {
    serde_json::to_string(line).unwrap_or_default()
}
