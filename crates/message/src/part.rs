//! Parts of messages other than text: media, reasoning, tool calls and their output.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The data of an image or document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// MIME type, such as `image/png`.
    pub media_type: String,
    /// The data, in base64.
    pub data: String,
    /// Name of the file, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Media {
    /// Returns the data as a `data:` URL.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.data)
    }

    /// Returns the text of a plain-text document; `None` for other media.
    pub fn plain_text(&self) -> Option<String> {
        let bytes = STANDARD.decode(&self.data).ok().filter(|_| self.media_type == "text/plain")?;
        String::from_utf8(bytes).ok()
    }
}

/// Reasoning of a model. Vendors accept it back only unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinking {
    /// The text, as far as the vendor discloses it.
    pub text: String,
    /// Proof of origin for the vendor. Without it, the block is not sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// Proof of origin that a vendor attaches to reasoning. Sent back only in the format it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Proof {
    /// A signature of the text (Anthropic).
    Signature {
        /// The signature.
        signature: String,
    },
    /// Reasoning that is not disclosed (Anthropic).
    Redacted {
        /// The encrypted reasoning.
        data: String,
    },
    /// A reasoning item with encrypted text (`OpenAI` responses).
    Encrypted {
        /// Id of the item.
        id: String,
        /// The encrypted text.
        content: String,
    },
    /// Plain text in the field `reasoning_content` of the message, which some vendors require back (chat completions).
    Plain,
    /// Reasoning in several parts, some of them encrypted (`reasoning_details` of `OpenRouter`, chat completions).
    Details {
        /// The parts.
        details: Vec<Value>,
    },
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// Id of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    pub input: Map<String, Value>,
    /// Signature of the reasoning behind the call, which the vendor requires back (Gemini).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl ToolUse {
    /// Creates a tool call without a signature.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Map<String, Value>) -> Self {
        Self { id: id.into(), name: name.into(), input, signature: None }
    }
}

/// A part of the output of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// MIME type, such as `image/png`.
        media_type: String,
        /// The data, in base64.
        data: String,
    },
    /// A document, such as a PDF.
    Document(Media),
}
