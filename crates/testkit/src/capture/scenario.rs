//! The client of a capture, read from a JSON file, and the matching of messages it waits for.

use serde::Deserialize;
use serde_json::Value;

/// A client: steps in order, and answers to requests of the program.
///
/// `$WORKSPACE`, `$HOME` and `$MODEL` stand for the sandbox's values in every string.
///
/// ```
/// let scenario: testkit::capture::Scenario = serde_json::from_str(r#"{
///     "about": "one turn",
///     "answers": [{"when": {"method": "droid.request_permission"}, "result": {"selectedOption": "proceed_once"}}],
///     "steps": [
///         {"request": {"method": "droid.initialize_session", "params": {"machineId": "m1", "cwd": "$WORKSPACE"}}},
///         {"until": {"type": "response", "id": "1"}},
///         "close_input"
///     ]
/// }"#)?;
/// assert_eq!(scenario.steps.len(), 3);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What the scenario shows, for readers.
    pub about: String,
    /// Additional arguments of the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// Answers to requests of the program; the first match is used.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// The steps, in order; then the input is closed and the program's end awaited.
    pub steps: Vec<Step>,
}

/// An answer to a request of the program.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Answer {
    /// The part that a request must contain.
    pub when: Value,
    /// The answer.
    #[serde(flatten)]
    pub reply: Reply,
}

/// An answer to a request of the program.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The result of a droid request, without its envelope.
    Result(Value),
    /// A complete message, in which `$ID` stands for the request's `id` or `request_id`.
    Send(Value),
}

/// A step of the client.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Sends a droid request, given without its envelope; ids count from `"1"`.
    Request {
        /// The method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// Sends a droid request, and reads until its response.
    Call {
        /// The method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// Sends a prompt, either its text or all parameters, and reads until the turn is completed and the agent idle.
    Turn(Value),
    /// Sends a complete message unchanged.
    Send(Value),
    /// Sends a line that need not be a message.
    Line(String),
    /// Reads until a message contains this part.
    Until(Value),
    /// Stores a part of the last message, by its JSON pointer; `$NAME` stands for it in later steps and answers.
    Keep {
        /// The name, without the dollar sign.
        name: String,
        /// For example `/result/newSessionId`.
        at: String,
    },
    /// Closes the program's input.
    CloseInput,
}

/// Returns whether `part` is contained in `message`: objects by key, lists item by item, everything else equal.
///
/// ```
/// use serde_json::json;
/// use testkit::capture::matches;
///
/// let message = json!({"type": "response", "id": "1", "result": {"a": 1, "b": 2}});
/// assert!(matches(&json!({"id": "1", "result": {"b": 2}}), &message));
/// assert!(!matches(&json!({"id": "1", "error": {}}), &message));
/// ```
pub fn matches(part: &Value, message: &Value) -> bool {
    match (part, message) {
        (Value::Object(part), Value::Object(message)) => {
            part.iter().all(|(key, part)| message.get(key).is_some_and(|value| matches(part, value)))
        }
        (Value::Array(parts), Value::Array(items)) => {
            parts.len() == items.len() && parts.iter().zip(items).all(|(part, item)| matches(part, item))
        }
        _ => part == message,
    }
}
