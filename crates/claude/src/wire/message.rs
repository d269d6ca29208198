//! What the CLI tells: its own text, and a typed view of it on request.
//!
//! The text is never changed and never lost. The view names what is usually wanted; a message of a kind or shape it does not
//! know is [`View::Unknown`].

use musher_wire::{Json, Word};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::content::{Content, Usage};
use super::lenient;
use super::system::{Init, System};

/// One message of the CLI, as it wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    text: Box<str>,
    kind: Word,
    subtype: Option<Word>,
}

impl Message {
    /// Takes the text as it is: of the many messages of a session none is copied to be kept.
    pub(crate) fn new(text: String, kind: Word, subtype: Option<Word>) -> Self {
        Self { text: text.into(), kind, subtype }
    }

    /// The line as the CLI wrote it: JSON with all its fields, in their order.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line, to keep.
    pub fn into_text(self) -> String {
        self.text.into()
    }

    /// The field `type`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The field `subtype`.
    pub fn subtype(&self) -> Option<&str> {
        self.subtype.as_deref()
    }

    /// Whether this is the end of a turn.
    pub fn is_result(&self) -> bool {
        self.kind() == "result"
    }

    /// The message as types.
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
    /// A turn begins: what the session is made of.
    Init(Box<Init>),
    /// Something else about the session.
    System(System),
    /// A piece of the answer: one content block of a model message.
    Assistant(AssistantMessage),
    /// A tool result, or a user message that is told back.
    User(UserEcho),
    /// A turn has ended.
    Result(Box<TurnResult>),
    /// A piece of an unfinished model message, if partial messages were asked for.
    StreamEvent(StreamEvent),
    /// What became of a user message.
    CommandLifecycle(CommandLifecycle),
    /// A kind or a shape this version of the driver does not know. The text has it all.
    Unknown,
}

/// A piece of the model's answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The message of the model; several pieces share its id.
    pub message: ModelMessage,
    /// The tool call this belongs to, when a subagent speaks.
    #[serde(default, deserialize_with = "lenient::field")]
    pub parent_tool_use_id: Option<String>,
    /// Which failure of the API this stands for, if it is not the model that speaks.
    #[serde(default, deserialize_with = "lenient::field")]
    pub error: Option<String>,
    /// The session.
    #[serde(default, deserialize_with = "lenient::field")]
    pub session_id: Option<String>,
    /// The id of this piece.
    #[serde(default, deserialize_with = "lenient::field")]
    pub uuid: Option<String>,
}

/// A message of the vendor's API.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ModelMessage {
    /// Its id; the pieces of one message share it.
    #[serde(default, deserialize_with = "lenient::field")]
    pub id: Option<String>,
    /// The model that wrote it.
    #[serde(default, deserialize_with = "lenient::field")]
    pub model: Option<String>,
    /// What it says.
    #[serde(default)]
    pub content: Content,
    /// What it cost.
    #[serde(default, deserialize_with = "lenient::field")]
    pub usage: Option<Usage>,
}

/// What the user or a tool said.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct UserEcho {
    /// The message.
    pub message: ModelMessage,
    /// The tool call this belongs to, in a subagent.
    #[serde(default, deserialize_with = "lenient::field")]
    pub parent_tool_use_id: Option<String>,
    /// What the tool gave, in a form of its own.
    #[serde(default)]
    pub tool_use_result: Option<Json>,
    /// Whether a message that was sent is told back.
    #[serde(default, rename = "isReplay", deserialize_with = "lenient::or_default")]
    pub is_replay: bool,
    /// Whether the CLI wrote it by itself.
    #[serde(default, rename = "isSynthetic", deserialize_with = "lenient::or_default")]
    pub is_synthetic: bool,
    /// The session.
    #[serde(default, deserialize_with = "lenient::field")]
    pub session_id: Option<String>,
    /// Its id.
    #[serde(default, deserialize_with = "lenient::field")]
    pub uuid: Option<String>,
}

/// The end of a turn.
///
/// A failure of the API ends as `success` too: look at [`is_error`](Self::is_error).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TurnResult {
    /// `success`, or which error.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub subtype: String,
    /// Whether the turn failed.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub is_error: bool,
    /// The last text of the model.
    #[serde(default, deserialize_with = "lenient::field")]
    pub result: Option<String>,
    /// What went wrong.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub errors: Vec<String>,
    /// The HTTP status of the API, if that failed.
    #[serde(default, deserialize_with = "lenient::field")]
    pub api_error_status: Option<u16>,
    /// How many calls of the model it took.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub num_turns: u64,
    /// How long it took, in milliseconds.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub duration_ms: f64,
    /// What the process has cost since it started, not this turn alone.
    #[serde(default, deserialize_with = "lenient::field")]
    pub total_cost_usd: Option<f64>,
    /// What this turn used.
    #[serde(default, deserialize_with = "lenient::field")]
    pub usage: Option<Usage>,
    /// The tool calls that were refused.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub permission_denials: Vec<PermissionDenial>,
    /// The object that was asked for with an output schema.
    #[serde(default)]
    pub structured_output: Option<Json>,
    /// Why it ended, more exactly.
    #[serde(default, deserialize_with = "lenient::field")]
    pub terminal_reason: Option<String>,
    /// The session; it can be another than before, after `/clear`.
    #[serde(default, deserialize_with = "lenient::field")]
    pub session_id: Option<String>,
}

/// A tool call that was refused.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PermissionDenial {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: String,
    /// What it was called with.
    pub tool_input: Json,
}

/// A piece of an unfinished model message.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct StreamEvent {
    /// The event of the vendor's API.
    pub event: Json,
    /// The tool call this belongs to, in a subagent.
    #[serde(default, deserialize_with = "lenient::field")]
    pub parent_tool_use_id: Option<String>,
}

impl StreamEvent {
    /// The text this event adds, if it adds text.
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

/// What became of a user message that was sent with an id.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CommandLifecycle {
    /// The id of the user message.
    pub command_uuid: String,
    /// `queued`, `started`, `completed`, `cancelled`, …
    pub state: String,
}
