//! What is asked of a model, in no vendor's words.
//!
//! Plain data, also serialisable so that a conversation can be stored. How it looks on the wire is said in `formats`.

use musher_message::{Media, Thinking, ToolUse};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One call of a model.
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
    /// The model's name, as the vendor knows it.
    pub model: String,
    /// The system prompt, in parts: those that change least come first.
    pub system: Vec<String>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it may, must or must not call them.
    pub tool_choice: ToolChoice,
    /// How much to think; the vendor's default if absent.
    pub effort: Option<Effort>,
    /// The most tokens to answer with; where a vendor demands a number, there is a default.
    pub max_output_tokens: Option<u64>,
    /// The temperature; the vendor's default if absent.
    pub temperature: Option<f64>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// How long the vendor should remember the beginning of the conversation.
    pub cache: Cache,
    /// The same for all calls of one conversation, so that they meet the same cache.
    pub cache_key: Option<String>,
    /// The answer must be JSON of this shape. Only for models whose vendor can enforce it.
    pub output: Option<OutputSchema>,
}

impl Request {
    /// A request with a conversation and nothing else.
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

    /// The same with every image and document replaced by a line of text, for models that take none.
    #[must_use]
    pub fn without_images(mut self) -> Self {
        for message in &mut self.messages {
            for block in &mut message.content {
                match block {
                    Block::ToolResult(result) => result.content.iter_mut().for_each(leave_out),
                    other => leave_out(other),
                }
            }
        }
        self
    }
}

fn leave_out(block: &mut Block) {
    let what = match block {
        Block::Image(_) => "image",
        Block::Document(_) => "document",
        _ => return,
    };
    *block = Block::text(format!("[{what} left out: this model reads text only]"));
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Vec<Block>,
}

impl Message {
    /// A message of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, content: vec![Block::text(text)] }
    }

    /// A message of the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, content: vec![Block::text(text)] }
    }
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, and the results of tools.
    User,
    /// The model.
    Assistant,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text {
        /// It.
        text: String,
    },
    /// A picture.
    Image(Media),
    /// A document, such as a PDF.
    Document(Media),
    /// What the model thought before it went on.
    Thinking(Thinking),
    /// The model called a tool.
    ToolUse(ToolUse),
    /// What came of it.
    ToolResult(ToolResult),
}

impl Block {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// What a tool said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// What it said: text, images, documents.
    pub content: Vec<Block>,
    /// Whether it failed.
    #[serde(default)]
    pub is_error: bool,
}

impl ToolResult {
    /// A result that is one text.
    pub fn text(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), content: vec![Block::text(text)], is_error: false }
    }

    /// The text of the result, without pictures.
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

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// Whether the model calls tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// It decides.
    #[default]
    Auto,
    /// It must call one or more.
    Required,
    /// It must not.
    None,
    /// It must call this one.
    Named(String),
}

/// How much to think before answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effort {
    /// Not at all.
    #[serde(alias = "none")]
    Off,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    XHigh,
    /// As much as the model can.
    Max,
}

impl Effort {
    /// The vendors' common word for it.
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

/// How long the vendor should remember the beginning of the conversation. Only Anthropic has to be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cache {
    /// Nothing is said about it.
    #[default]
    Off,
    /// Some minutes.
    Short,
    /// The system prompt and the tools an hour, the conversation some minutes.
    Long,
}

/// The shape of an answer that is JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSchema {
    /// A name for it.
    pub name: String,
    /// The JSON schema.
    pub schema: Value,
}
