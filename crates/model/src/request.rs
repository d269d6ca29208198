//! A model call, independent of the vendor.
//!
//! Plain data; messages are serializable, so that a conversation can be stored. `formats` has the vendors' forms.

use musher_message::{Media, Thinking, ToolUse};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A model call.
///
/// ```
/// use musher_model::{Effort, Message, Request};
///
/// let mut request = Request::new("some-model", vec![Message::user("Hello")]);
/// request.system.push("Be brief.".to_owned());
/// request.effort = Some(Effort::Low);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Name of the model at its vendor.
    pub model: String,
    /// System prompt, in parts. The parts that change least come first, so that caching works.
    pub system: Vec<String>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether the model may, must or must not call tools.
    pub tool_choice: ToolChoice,
    /// Reasoning effort. Default: the vendor's.
    pub effort: Option<Effort>,
    /// Maximum number of tokens in the answer. Default: none, or 32,000 where the vendor requires a number.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature. Default: the vendor's.
    pub temperature: Option<f64>,
    /// Stop sequences: texts that end the answer.
    pub stop: Vec<String>,
    /// How long the vendor should cache the beginning of the conversation.
    pub cache: Cache,
    /// Key that is equal for all calls of one conversation, so that they use the same cache.
    pub cache_key: Option<String>,
    /// JSON Schema of the answer. Only for models whose vendor can enforce it.
    pub output: Option<OutputSchema>,
}

impl Request {
    /// Creates a request with a conversation and default settings.
    pub fn new(model: impl Into<String>, messages: Vec<Message>) -> Self {
        Self {
            model: model.into(),
            system: Vec::new(),
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            effort: None,
            max_output_tokens: None,
            temperature: None,
            stop: Vec::new(),
            cache: Cache::Off,
            cache_key: None,
            output: None,
        }
    }

    /// Replaces every image and document by a line of text, for models that accept text only.
    #[must_use]
    pub fn without_images(mut self) -> Self {
        for message in &mut self.messages {
            for block in &mut message.content {
                match block {
                    Block::ToolResult(result) => result.content.iter_mut().for_each(replace_with_text),
                    other => replace_with_text(other),
                }
            }
        }
        self
    }
}

fn replace_with_text(block: &mut Block) {
    let kind = match block {
        Block::Image(_) => "image",
        Block::Document(_) => "document",
        _ => return,
    };
    *block = Block::text(format!("[{kind} omitted: this model accepts text only]"));
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Author of the message.
    pub role: Role,
    /// Content blocks, in order.
    pub content: Vec<Block>,
}

impl Message {
    /// Creates a user message.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, content: vec![Block::text(text)] }
    }

    /// Creates an assistant message.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, content: vec![Block::text(text)] }
    }
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user; also carries tool results.
    User,
    /// The model.
    Assistant,
}

/// A content block of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image(Media),
    /// A document, such as a PDF.
    Document(Media),
    /// Reasoning of the model.
    Thinking(Thinking),
    /// A tool call.
    ToolUse(ToolUse),
    /// The result of a tool call.
    ToolResult(ToolResult),
    /// A field of the answer as a whole, which the vendor requires back.
    Label {
        /// The field.
        label: Label,
        /// Its value.
        value: String,
    },
    /// A part of an answer of an unknown kind. Only the Anthropic format sends it back.
    Other(Value),
}

impl Block {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// A field of an answer as a whole, which its vendor requires back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Label {
    /// Whether the text is commentary or the final answer (`OpenAI` responses).
    Phase,
    /// The signature of the reasoning behind the text (Gemini).
    ThoughtSignature,
}

impl Label {
    /// All labels.
    pub const ALL: [Self; 2] = [Self::Phase, Self::ThoughtSignature];

    /// Returns the name of the field in stored messages, which is droid's.
    pub fn name(self) -> &'static str {
        match self {
            Self::Phase => "openaiPhase",
            Self::ThoughtSignature => "geminiThoughtSignature",
        }
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Id of the tool call.
    pub id: String,
    /// Text, images and documents.
    pub content: Vec<Block>,
    /// Whether the call failed.
    #[serde(default)]
    pub is_error: bool,
}

impl ToolResult {
    /// Creates a successful result that consists of one text.
    pub fn text(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), content: vec![Block::text(text)], is_error: false }
    }

    /// Returns the texts of the result, joined by line breaks.
    pub(crate) fn joined(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn media(&self) -> impl Iterator<Item = &Block> {
        self.content.iter().filter(|block| matches!(block, Block::Image(_) | Block::Document(_)))
    }
}

/// Definition of a tool for the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Name of the tool.
    pub name: String,
    /// What the tool does, and when to use it.
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
}

/// Whether the model calls tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call at least one tool.
    Required,
    /// The model must not call tools.
    None,
    /// The model must call this tool.
    Named(String),
}

/// Reasoning effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effort {
    /// No reasoning.
    #[serde(alias = "none")]
    Off,
    /// Minimal reasoning.
    Minimal,
    /// Low effort.
    Low,
    /// Medium effort.
    Medium,
    /// High effort.
    High,
    /// Very high effort.
    XHigh,
    /// Maximum effort of the model.
    Max,
}

impl Effort {
    /// Returns the name that vendors commonly use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// How long the vendor should cache the beginning of the conversation. Only the Anthropic format uses it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cache {
    /// No cache markers.
    #[default]
    Off,
    /// Caches for the default time, some minutes.
    Short,
    /// Caches system prompt and tools for an hour, and the conversation for the default time.
    Long,
}

/// The JSON Schema of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSchema {
    /// Name of the schema.
    pub name: String,
    /// The schema.
    pub schema: Value,
}
