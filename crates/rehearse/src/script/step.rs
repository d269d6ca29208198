//! The steps of a reply: text, tool calls, and faults.
//!
//! Plain data with the exact shape of the script file; `answer.rs` converts it to events.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::number::{error_status, positive, some_positive};

/// One step of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Step {
    /// Text for the user.
    Text(Pieces),
    /// The model's reasoning.
    Thinking(Pieces),
    /// One tool call; consecutive ones are parallel calls.
    Tool(ToolCall),
    /// A pause, in milliseconds.
    WaitMs(u64),
    /// An error: an HTTP status as the first step, an error inside the stream later.
    Error(HttpError),
    /// Cuts the connection in the middle of the answer.
    Cut(Cut),
    /// Sends nothing more, until the client disconnects.
    Hang(Hang),
}

/// Text and how it is split into the pieces of a stream.
///
/// In a script: a string (split after every few words), a list of strings (exactly these pieces), or an object with `text` and `chunk`
/// (pieces of that many characters).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pieces {
    /// Split after spaces, at about [`Pieces::DEFAULT_CHUNK`] characters.
    Whole(String),
    /// Exactly these pieces.
    Explicit(Vec<String>),
    /// Split after a fixed number of characters.
    Every {
        /// The text.
        text: String,
        /// The number of characters of a piece, at least 1.
        chunk: usize,
    },
}

impl Pieces {
    /// The approximate length of the pieces of a text, in characters.
    pub const DEFAULT_CHUNK: usize = 16;

    /// Returns the pieces; at least one, which may be empty.
    pub fn pieces(&self) -> Vec<String> {
        let pieces = match self {
            Self::Whole(text) => by_words(text),
            Self::Explicit(pieces) => pieces.clone(),
            Self::Every { text, chunk } => every(text, *chunk),
        };
        if pieces.is_empty() { vec![String::new()] } else { pieces }
    }
}

impl From<&str> for Pieces {
    fn from(text: &str) -> Self {
        Self::Whole(text.to_owned())
    }
}

impl From<String> for Pieces {
    fn from(text: String) -> Self {
        Self::Whole(text)
    }
}

impl<const N: usize> From<[&str; N]> for Pieces {
    fn from(pieces: [&str; N]) -> Self {
        Self::Explicit(pieces.map(str::to_owned).to_vec())
    }
}

/// Splits a text into pieces of `chunk` characters.
pub(crate) fn every(text: &str, chunk: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(chunk.max(1)).map(|piece| piece.iter().collect()).collect()
}

fn by_words(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for word in text.split_inclusive(' ') {
        piece.push_str(word);
        if piece.chars().count() >= Pieces::DEFAULT_CHUNK {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// A call of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    /// The arguments as text, sent unchanged: for JSON that is malformed or cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_text: Option<String>,
    /// The id of the call; derived from the number of the answer if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The number of characters of a piece when the arguments are streamed; all at once if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "some_positive")]
    #[schemars(range(min = 1))]
    pub chunk: Option<usize>,
}

impl ToolCall {
    /// Creates a call with these arguments. Arguments that are not an object are sent as their JSON text.
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        let (arguments, arguments_text) = match arguments {
            Value::Object(arguments) => (arguments, None),
            other => (Map::new(), Some(other.to_string())),
        };
        Self { name: name.into(), arguments, arguments_text, id: None, chunk: None }
    }

    /// Creates a call whose arguments are this text, well formed or not.
    pub fn with_text(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { arguments_text: Some(arguments.into()), ..Self::new(name, Value::Object(Map::new())) }
    }

    /// Sets the id.
    #[must_use]
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// Streams the arguments in pieces of this many characters.
    #[must_use]
    pub fn chunk(self, characters: usize) -> Self {
        Self { chunk: Some(characters), ..self }
    }

    /// Returns the text of the arguments as it is sent.
    pub fn arguments_text(&self) -> String {
        match &self.arguments_text {
            Some(text) => text.clone(),
            None => Value::Object(self.arguments.clone()).to_string(),
        }
    }
}

/// An error with the vendor's body for its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct HttpError {
    /// The HTTP status, 400 to 599.
    #[serde(deserialize_with = "error_status")]
    #[schemars(range(min = 400, max = 599))]
    pub status: u16,
    /// The message; the vendor's usual one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The error's `type`; the vendor's usual one for the status if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The error's `code` (`OpenAI` formats only); the vendor's usual one for the status if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The `retry-after` header, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
    /// Send it inside the stream (status 200) even as the first step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_stream: bool,
}

impl HttpError {
    /// Creates the vendor's usual error for this status.
    pub fn new(status: u16) -> Self {
        Self { status, message: None, kind: None, code: None, retry_after_seconds: None, in_stream: false }
    }

    /// Sets the message.
    #[must_use]
    pub fn message(self, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..self }
    }

    /// Sets the `type`.
    #[must_use]
    pub fn kind(self, kind: impl Into<String>) -> Self {
        Self { kind: Some(kind.into()), ..self }
    }

    /// Sets the `retry-after` header, in seconds.
    #[must_use]
    pub fn retry_after_seconds(self, seconds: u64) -> Self {
        Self { retry_after_seconds: Some(seconds), ..self }
    }

    /// Sends the error inside the stream, after a status of 200.
    #[must_use]
    pub fn in_stream(self) -> Self {
        Self { in_stream: true, ..self }
    }
}

/// How a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Closed with FIN, but before the end of the body.
    Close,
    /// Reset with RST.
    Reset,
}

/// Where a hang starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hang {
    /// Before the response headers; only as the first step.
    BeforeHeaders,
    /// After the headers and the content of the steps before.
    AfterHeaders,
}

impl Serialize for Pieces {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(text) => serializer.serialize_str(text),
            Self::Explicit(pieces) => pieces.serialize(serializer),
            Self::Every { text, chunk } => {
                PiecesFields { text: text.clone(), chunk: *chunk }.serialize(serializer)
            }
        }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct PiecesFields {
    /// The text.
    text: String,
    /// The number of characters of a piece.
    #[serde(deserialize_with = "positive")]
    #[schemars(range(min = 1))]
    chunk: usize,
}

impl<'de> Deserialize<'de> for Pieces {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextListOrFields;
        impl<'de> Visitor<'de> for TextListOrFields {
            type Value = Pieces;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a text, a list of texts, or an object with `text` and `chunk`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Pieces, E> {
                Ok(Pieces::Whole(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Pieces, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Pieces::Explicit)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Pieces, A::Error> {
                let PiecesFields { text, chunk } = Deserialize::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Pieces::Every { text, chunk })
            }
        }
        deserializer.deserialize_any(TextListOrFields)
    }
}

impl JsonSchema for Pieces {
    fn schema_name() -> Cow<'static, str> {
        "Pieces".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Text and how it is cut into the pieces of a stream.",
            "anyOf": [
                {"type": "string", "description": "Cut behind spaces every few words."},
                {"type": "array", "items": {"type": "string"}, "description": "Exactly these pieces."},
                generator.subschema_for::<PiecesFields>()
            ]
        })
    }
}
