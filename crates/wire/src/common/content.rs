//! What a message is made of.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::object::{object, tagged};
use crate::{Audit, Count, Findings, Json};

tagged! {
    /// One part of a message.
    pub enum ContentBlock by "type" {
        Text(TextBlock) = "text",
        Thinking(ThinkingBlock) = "thinking",
        RedactedThinking(RedactedThinkingBlock) = "redacted_thinking",
        ToolUse(ToolUse) = "tool_use",
        ToolResult(ToolResultBlock) = "tool_result",
        Image(ImageBlock) = "image",
        Document(DocumentBlock) = "document",
    }
}

object! {
    /// Text for people.
    pub struct TextBlock {
        text: String = "text",
    } optional {
        id: String = "id",
        /// Only while the message is being written, in answers to `load_session`.
        is_streaming: bool = "isStreaming",
    }
}

object! {
    /// What the model thought.
    pub struct ThinkingBlock {
        thinking: String = "thinking",
    } optional {
        id: String = "id",
        signature: String = "signature",
        signature_provider: String = "signatureProvider",
        duration_ms: Count = "durationMs",
        is_streaming: bool = "isStreaming",
    }
}

object! {
    /// Thoughts only the provider can read.
    pub struct RedactedThinkingBlock {
        data: String = "data",
    } optional {
        id: String = "id",
    }
}

object! {
    /// A call of a tool by the model.
    pub struct ToolUse {
        id: String = "id",
        name: String = "name",
        input: Json = "input",
    } optional {
        /// Always `tool_use`; absent inside a [`ContentBlock`], which has the tag itself.
        kind: String = "type",
        thought_signature: String = "thoughtSignature",
    }
}

impl ToolUse {
    /// A call that stands on its own, outside a message.
    pub fn standalone(id: impl Into<String>, name: impl Into<String>, input: impl Into<Json>) -> Self {
        Self { kind: Some("tool_use".to_owned()), ..Self::new(id, name, input) }
    }
}

object! {
    /// What came of a tool call.
    pub struct ToolResultBlock {
        tool_use_id: String = "toolUseId",
        content: ToolResultContent = "content",
    } optional {
        id: String = "id",
        is_error: bool = "isError",
    }
}

object! {
    /// A picture.
    pub struct ImageBlock {
        source: Source = "source",
    } optional {
        id: String = "id",
        generated: bool = "generated",
    }
}

object! {
    /// A file.
    pub struct DocumentBlock {
        source: Source = "source",
    } optional {
        id: String = "id",
    }
}

object! {
    /// The bytes of a picture or file.
    pub struct Source {
        /// `base64` or `text`
        kind: String = "type",
        media_type: String = "mediaType",
        data: String = "data",
    } optional {
        name: String = "name",
        path: String = "path",
        mime: String = "mime",
        /// The text found in a PDF.
        parsed_data: String = "parsedData",
    }
}

impl Source {
    /// Binary data, already encoded.
    pub fn base64(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self::new("base64", media_type, data)
    }

    /// Plain text.
    pub fn text(data: impl Into<String>) -> Self {
        Self::new("text", "text/plain", data)
    }
}

/// The content of a tool result: text, or blocks when there are pictures in it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolResultContent {
    /// The usual case.
    Text(String),
    /// Text and pictures.
    Blocks(Vec<ContentBlock>),
    /// Anything else, which this version of the crate does not know.
    Other(Json),
}

impl From<String> for ToolResultContent {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for ToolResultContent {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Audit for ToolResultContent {
    fn audit(&self, found: &mut Findings) {
        match self {
            Self::Text(_) => {}
            Self::Blocks(blocks) => blocks.audit(found),
            Self::Other(json) => found.unknown_value(json.text()),
        }
    }
}

impl Serialize for ToolResultContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Blocks(blocks) => blocks.serialize(serializer),
            Self::Other(json) => json.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ToolResultContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        // what does not read as text or blocks is kept as it is, so that a new form costs nothing
        let known = match json.text().as_bytes().first() {
            Some(b'"') => json.to().map(Self::Text),
            Some(b'[') => json.to().map(Self::Blocks),
            _ => return Ok(Self::Other(json)),
        };
        Ok(known.unwrap_or(Self::Other(json)))
    }
}
