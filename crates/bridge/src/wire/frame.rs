//! The lines that the bridge writes: one function per kind.

use musher_claude::{Extra, Json};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Code {
    /// The line is not a message of the protocol.
    InvalidMessage,
    /// The session does not exist, or has ended.
    SessionNotFound,
    /// The session did not start.
    SessionCreateFailed,
    /// The front end did not answer in time; the agent got a default answer.
    CallbackTimeout,
    /// The callback does not exist, or is not pending any more.
    CallbackNotFound,
    /// The agent did not respond to a call.
    QueryMethodFailed,
    /// An error of the agent.
    SdkError,
}

/// An error for the front end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ErrorPayload {
    /// The code, for programs.
    pub(crate) code: Code,
    /// The message, for users.
    pub(crate) message: String,
    /// More details, depending on the code: `path` and `expected`, or `phase`, `exit_code`, `signal`, `stderr`.
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

    /// Formats the line, with the known ids.
    pub(crate) fn frame(&self, id: Option<&str>, session_id: Option<&str>) -> String {
        print(&Frame { r#type: "error", id, session_id, payload: self })
    }
}

/// The result of a `query.call`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueryResult {
    /// Whether the method succeeded.
    success: bool,
    /// The result; null if there is none.
    #[schemars(with = "Value")]
    result: Json,
    /// The error.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The id for resuming the session later.
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

/// Returns a message of the agent, in parts: it is not parsed again, is JSON on one line, and stays unchanged.
pub(crate) fn sdk_message<'a>(session_id: &'a str, message: &'a str) -> [&'a str; 5] {
    // session ids of the bridge need no escaping
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

/// Prints a message. The types above have string keys only and contain valid JSON, so serializing cannot fail.
fn print<T: Serialize>(line: &T) -> String {
    serde_json::to_string(line).unwrap_or_default()
}
