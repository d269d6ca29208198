//! Messages of the CLI: their original text, and a typed view on request.
//!
//! The text is never changed or lost. The view has the commonly used fields; a message of an unknown kind or shape is [`View::Unknown`].

use musher_wire::{Json, Word};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::content::{Content, Usage};
use super::lenient;
use super::system::{Init, System};

/// A message of the CLI, with its original text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    text: Box<str>,
    kind: Word,
    subtype: Option<Word>,
}

impl Message {
    /// Takes the text without copying it.
    pub(crate) fn new(text: String, kind: Word, subtype: Option<Word>) -> Self {
        Self { text: text.into(), kind, subtype }
    }

    /// Returns the line as the CLI wrote it: JSON with all its fields, in their order.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line by value.
    pub fn into_text(self) -> String {
        self.text.into()
    }

    /// Returns the field `type`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the field `subtype`.
    pub fn subtype(&self) -> Option<&str> {
        self.subtype.as_deref()
    }

    /// Returns whether this message ends a turn.
    pub fn is_result(&self) -> bool {
        self.kind() == "result"
    }

    /// Returns the message as types.
    pub fn view(&self) -> View {
        let view = match (self.kind(), self.subtype()) {
            ("system", Some("init")) => self.read().map(View::Init),
            ("system", Some(subtype)) => Some(View::System(System::read(subtype, self))),
            ("assistant", _) => self.read().map(View::Assistant),
            ("user", _) => self.read().map(View::User),
            ("result", _) => self.read().map(View::Result),
            ("stream_event", _) => self.read().map(View::StreamEvent),
            ("command_lifecycle", _) => self.read().map(View::CommandLifecycle),
            _ => None,
        };
        view.unwrap_or(View::Unknown)
    }

    pub(crate) fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&self.text).ok()
    }
}

/// A message as types.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum View {
    /// The start of a turn: the properties of the session.
    Init(Box<Init>),
    /// Another message about the session.
    System(System),
    /// Part of a model message: one content block.
    Assistant(AssistantMessage),
    /// A tool result, or a repeated user message.
    User(UserEcho),
    /// The end of a turn.
    Result(Box<TurnResult>),
    /// Part of an unfinished model message, if partial messages were requested.
    StreamEvent(StreamEvent),
    /// The progress of a user message.
    CommandLifecycle(CommandLifecycle),
    /// An unknown kind or shape. The text has everything.
    Unknown,
}

/// Part of a model message.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The message of the model; several parts share its id.
    pub message: ModelMessage,
    /// The tool call that started the subagent, if a subagent wrote this.
    #[serde(default, deserialize_with = "lenient::field")]
    pub parent_tool_use_id: Option<String>,
    /// The failure of the API that this message stands for, if the model did not write it.
    #[serde(default, deserialize_with = "lenient::field")]
    pub error: Option<String>,
    /// The id of the session.
    #[serde(default, deserialize_with = "lenient::field")]
    pub session_id: Option<String>,
    /// The id of this part.
    #[serde(default, deserialize_with = "lenient::field")]
    pub uuid: Option<String>,
}

/// A message of the vendor's API.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ModelMessage {
    /// The id; the parts of one message share it.
    #[serde(default, deserialize_with = "lenient::field")]
    pub id: Option<String>,
    /// The model that wrote it.
    #[serde(default, deserialize_with = "lenient::field")]
    pub model: Option<String>,
    /// The content.
    #[serde(default)]
    pub content: Content,
    /// The token usage.
    #[serde(default, deserialize_with = "lenient::field")]
    pub usage: Option<Usage>,
}

/// A message of the user or of a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct UserEcho {
    /// The message.
    pub message: ModelMessage,
    /// The tool call that started the subagent, in a subagent.
    #[serde(default, deserialize_with = "lenient::field")]
    pub parent_tool_use_id: Option<String>,
    /// The tool's result in its own format.
    #[serde(default)]
    pub tool_use_result: Option<Json>,
    /// Whether this repeats a message of the host.
    #[serde(default, rename = "isReplay", deserialize_with = "lenient::or_default")]
    pub is_replay: bool,
    /// Whether the CLI wrote the message itself.
    #[serde(default, rename = "isSynthetic", deserialize_with = "lenient::or_default")]
    pub is_synthetic: bool,
    /// The id of the session.
    #[serde(default, deserialize_with = "lenient::field")]
    pub session_id: Option<String>,
    /// The id of the message.
    #[serde(default, deserialize_with = "lenient::field")]
    pub uuid: Option<String>,
}

/// The end of a turn.
///
/// A failure of the API also ends with `success`: check [`is_error`](Self::is_error).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TurnResult {
    /// `success`, or the kind of error.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub subtype: String,
    /// Whether the turn failed.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub is_error: bool,
    /// The last text of the model.
    #[serde(default, deserialize_with = "lenient::field")]
    pub result: Option<String>,
    /// The errors.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub errors: Vec<String>,
    /// The HTTP status of the API, if it failed.
    #[serde(default, deserialize_with = "lenient::field")]
    pub api_error_status: Option<u16>,
    /// The number of model calls.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub num_turns: u64,
    /// The duration in milliseconds.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub duration_ms: f64,
    /// The cost of the process since its start, not of this turn alone, in US dollars.
    #[serde(default, deserialize_with = "lenient::field")]
    pub total_cost_usd: Option<f64>,
    /// The token usage of this turn.
    #[serde(default, deserialize_with = "lenient::field")]
    pub usage: Option<Usage>,
    /// The tool calls that were denied.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub permission_denials: Vec<PermissionDenial>,
    /// The structured output, if an output schema was set.
    #[serde(default)]
    pub structured_output: Option<Json>,
    /// The exact reason for the end.
    #[serde(default, deserialize_with = "lenient::field")]
    pub terminal_reason: Option<String>,
    /// The id of the session; it may differ from before, after `/clear`.
    #[serde(default, deserialize_with = "lenient::field")]
    pub session_id: Option<String>,
}

/// A tool call that was denied.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PermissionDenial {
    /// The name of the tool.
    pub tool_name: String,
    /// The id of the tool call.
    pub tool_use_id: String,
    /// The arguments.
    pub tool_input: Json,
}

/// Part of an unfinished model message.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct StreamEvent {
    /// The event of the vendor's API.
    pub event: Json,
    /// The tool call that started the subagent, in a subagent.
    #[serde(default, deserialize_with = "lenient::field")]
    pub parent_tool_use_id: Option<String>,
}

impl StreamEvent {
    /// Returns the text that this event adds, if any.
    pub fn text_delta(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Event {
            delta: Delta,
        }
        #[derive(Deserialize)]
        struct Delta {
            r#type: String,
            text: String,
        }
        let Event { delta } = self.event.to().ok()?;
        (delta.r#type == "text_delta").then_some(delta.text)
    }
}

/// The progress of a user message that was sent with an id.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CommandLifecycle {
    /// The id of the user message.
    pub command_uuid: String,
    /// `queued`, `started`, `completed`, `cancelled`, …
    pub state: String,
}
