//! Hooks: the question of the CLI, and what one may answer.

use musher_wire::Json;
use serde::{Deserialize, Serialize};

use super::control::RequestId;
use super::lenient;

/// The CLI calls a hook.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HookRequest {
    /// To answer it.
    pub id: RequestId,
    /// The id the hook was registered with.
    pub callback_id: String,
    /// The event, such as `PreToolUse`.
    pub event: String,
    /// What the event is about.
    pub input: Json,
    /// The tool call it is about. A random id for events that are about none.
    pub tool_use_id: Option<String>,
}

/// The answer to a [`HookRequest`]. Empty is "no opinion".
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
    /// Whether the session goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#continue: Option<bool>,
    /// Whether what the hook said is kept from the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// Why the session does not go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// `approve` or `block`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// For the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// For the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What only this event knows, such as `permissionDecision`.
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

/// The name of the event in the input of a hook.
pub(crate) fn event_of(input: &Json) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        hook_event_name: String,
    }
    input.to().ok().map(|Named { hook_event_name }| hook_event_name)
}
