//! Hooks: requests of the CLI, and the responses.

use musher_wire::Json;
use serde::{Deserialize, Serialize};

use super::control::RequestId;
use super::lenient;

/// A hook request of the CLI.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HookRequest {
    /// The id to answer it with.
    pub id: RequestId,
    /// The id that the hook was registered with.
    pub callback_id: String,
    /// The event, such as `PreToolUse`.
    pub event: String,
    /// The input of the hook.
    pub input: Json,
    /// The id of the tool call; a random id for events without one.
    pub tool_use_id: Option<String>,
}

/// The response to a [`HookRequest`]. An empty response expresses no opinion.
///
/// ```
/// use musher_claude::HookOutput;
///
/// let output = HookOutput { decision: Some("block".to_owned()), reason: Some("not today".to_owned()), ..HookOutput::default() };
/// assert_eq!(serde_json::to_string(&output)?, r#"{"decision":"block","reason":"not today"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookOutput {
    /// Whether the session continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#continue: Option<bool>,
    /// Whether the hook's output is kept out of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// Why the session does not continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// `approve` or `block`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// A message for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// A message for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Fields of specific events, such as `permissionDecision`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<Json>,
}

/// The body of a `hook_callback` request.
#[derive(Deserialize)]
pub(crate) struct HookCallback {
    pub(crate) callback_id: String,
    pub(crate) input: Json,
    #[serde(default, deserialize_with = "lenient::field")]
    pub(crate) tool_use_id: Option<String>,
}

/// Returns the name of the event in a hook's input.
pub(crate) fn event_of(input: &Json) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        hook_event_name: String,
    }
    input.to().ok().map(|Named { hook_event_name }| hook_event_name)
}
