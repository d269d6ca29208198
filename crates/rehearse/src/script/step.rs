//! The parts of a reply: what the model says, calls, or fails with.
//!
//! These are plain data with the exact shape of the script file; what they turn into is said in `answer.rs`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::number::{error_status, positive, some_positive};

/// One part of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Step {
    /// Text the user sees.
    Text(Pieces),
    /// The model's reasoning.
    Thinking(Pieces),
    /// One tool call; several in a row are parallel calls.
    Tool(ToolCall),
    /// A pause, in milliseconds.
    WaitMs(u64),
    /// An error: as the first step an HTTP status, later an error inside the stream.
    Error(HttpError),
    /// The connection ends here, in the middle of the answer.
    Cut(Cut),
    /// Nothing more comes, until the client goes away.
    Hang(Hang),
}

/// Text and how it is cut into the pieces of a stream.
///
/// In a script: a string (cut after every few words), a list of strings (exactly these pieces), or an object with
/// `text` and `chunk` (pieces of so many characters).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pieces {
    /// Cut behind spaces, at about [`Pieces::DEFAULT_CHUNK`] characters.
    Whole(String),
    /// Exactly these.
    Explicit(Vec<String>),
    /// Cut every so many characters.
    Every {
        /// The text.
        text: String,
        /// Characters of a piece, at least 1.
        chunk: usize,
    },
}

impl Pieces {
    /// About how long the pieces of a text are if nothing is said about it.
    pub const DEFAULT_CHUNK: usize = 16;

    /// The pieces; at least one, though it may be empty.
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

/// Every so many characters.
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
    /// The tool's name.
    pub name: String,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    /// The arguments as text instead, sent as it is: for JSON that is malformed or cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_text: Option<String>,
    /// The id of the call; made up from the number of the answer if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Characters of a piece when the arguments are streamed; all at once if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "some_positive")]
    #[schemars(range(min = 1))]
    pub chunk: Option<usize>,
}

impl ToolCall {
    /// A call with these arguments; any that are no object are sent as their JSON text.
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        let (arguments, arguments_text) = match arguments {
            Value::Object(arguments) => (arguments, None),
            other => (Map::new(), Some(other.to_string())),
        };
        Self { name: name.into(), arguments, arguments_text, id: None, chunk: None }
    }

    /// A call whose arguments are this text, well formed or not.
    pub fn with_text(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { arguments_text: Some(arguments.into()), ..Self::new(name, Value::Object(Map::new())) }
    }

    /// With this id.
    #[must_use]
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// With the arguments streamed in pieces of so many characters.
    #[must_use]
    pub fn chunk(self, characters: usize) -> Self {
        Self { chunk: Some(characters), ..self }
    }

    /// The arguments as they are sent.
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
    /// The vendor's usual error for this status.
    pub fn new(status: u16) -> Self {
        Self { status, message: None, kind: None, code: None, retry_after_seconds: None, in_stream: false }
    }

    /// With this message.
    #[must_use]
    pub fn message(self, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..self }
    }

    /// With this `type`.
    #[must_use]
    pub fn kind(self, kind: impl Into<String>) -> Self {
        Self { kind: Some(kind.into()), ..self }
    }

    /// With this `retry-after` header.
    #[must_use]
    pub fn retry_after_seconds(self, seconds: u64) -> Self {
        Self { retry_after_seconds: Some(seconds), ..self }
    }

    /// Inside the stream, after a status of 200.
    #[must_use]
    pub fn in_stream(self) -> Self {
        Self { in_stream: true, ..self }
    }
}

/// How a connection ends before its answer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Closed in order (FIN), but before the end of the body.
    Close,
    /// Reset (RST).
    Reset,
}

/// Where the silence begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hang {
    /// Not even the response headers are sent; only as the first step.
    BeforeHeaders,
    /// After the headers and whatever the steps before said.
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
    /// Characters of a piece.
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
