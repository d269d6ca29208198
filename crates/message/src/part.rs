//! What messages carry besides text: media, thinking, calls of tools and their outputs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The bytes of a picture or document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The bytes in base64.
    pub data: String,
    /// The file's name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Media {
    /// The bytes as a `data:` URL.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.data)
    }

    /// The text of a document that is nothing but text.
    pub fn plain_text(&self) -> Option<String> {
        let bytes = STANDARD.decode(&self.data).ok().filter(|_| self.media_type == "text/plain")?;
        String::from_utf8(bytes).ok()
    }
}

/// What the model thought. Vendors want it back unchanged, or not at all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinking {
    /// The text, as far as the vendor shows it.
    pub text: String,
    /// What makes the vendor believe that it is its own. Without it the block is not sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// What a vendor attaches to thinking. Sent back to the format it came from, and to no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Proof {
    /// A signature of the text (Anthropic).
    Signature {
        /// It.
        signature: String,
    },
    /// Thinking that is not shown at all (Anthropic).
    Redacted {
        /// The encrypted text.
        data: String,
    },
    /// A reasoning item whose real text is encrypted (`OpenAI` responses).
    Encrypted {
        /// The item's id.
        id: String,
        /// The encrypted text.
        content: String,
    },
    /// Plain text in a field of the message, which some vendors want back (chat completions).
    Plain,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Map<String, Value>,
}

/// A part of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture.
    Image {
        /// The media type, such as `image/png`.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
}
