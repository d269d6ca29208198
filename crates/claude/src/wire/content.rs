//! Content blocks and token usage, in the format of the vendor's API.

use musher_wire::Json;
use serde::{Deserialize, Deserializer};

use super::lenient;

/// The content of a message.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Content(pub Vec<Block>);

impl Content {
    /// Returns all text, one block after the other.
    pub fn text(&self) -> String {
        let texts = self.0.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the tool calls.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.0.iter().filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the tool results.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.0.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

/// A block of content.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(String),
    /// The model's reasoning.
    Thinking(String),
    /// A tool call.
    ToolUse(ToolUse),
    /// A tool result.
    ToolResult(ToolResult),
    /// A block of another kind, such as an image.
    Other(Json),
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ToolUse {
    /// The id that the result refers to.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub input: Json,
}

/// A tool result.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the tool call.
    pub tool_use_id: String,
    /// Text or blocks.
    #[serde(default = "Json::null")]
    pub content: Json,
    /// Whether the tool failed.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub is_error: bool,
}

/// The tokens of a model call or a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Input tokens.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub input_tokens: u64,
    /// Output tokens.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub output_tokens: u64,
    /// Tokens written to the cache.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub cache_creation_input_tokens: u64,
    /// Tokens read from the cache.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub cache_read_input_tokens: u64,
}

/// A plain string stands for one text block.
impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        if let Ok(text) = json.to::<String>() {
            return Ok(Self(vec![Block::Text(text)]));
        }
        let blocks = json.to::<Vec<Json>>().unwrap_or_default();
        Ok(Self(blocks.into_iter().map(block).collect()))
    }
}

fn block(json: Json) -> Block {
    #[derive(Deserialize)]
    struct Head {
        r#type: String,
        #[serde(default, deserialize_with = "lenient::field")]
        text: Option<String>,
        #[serde(default, deserialize_with = "lenient::field")]
        thinking: Option<String>,
    }
    let known = json.to::<Head>().ok().and_then(|head| match head.r#type.as_str() {
        "text" => head.text.map(Block::Text),
        "thinking" => head.thinking.map(Block::Thinking),
        "tool_use" => json.to().ok().map(Block::ToolUse),
        "tool_result" => json.to().ok().map(Block::ToolResult),
        _ => None,
    });
    known.unwrap_or(Block::Other(json))
}
