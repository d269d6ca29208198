//! Messages and their content.

use serde_json::{Map, Value};

use crate::{Media, Part, Thinking, ToolUse};

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Id of the message.
    pub id: String,
    /// Author of the message.
    pub role: Role,
    /// Content, in order.
    pub content: Vec<Content>,
    /// Creation time, in milliseconds since 1970.
    pub created_at_ms: i64,
    /// Time at which the message was complete, in milliseconds since 1970.
    pub updated_at_ms: i64,
    /// Id of the preceding message; absent for the first one.
    pub parent_id: Option<String>,
    /// Audience of the message.
    pub visibility: Visibility,
    /// Model that wrote the message, or that it is addressed to.
    pub model_id: Option<String>,
    /// Reasoning effort of that model.
    pub reasoning_effort: Option<String>,
    /// Unknown fields, preserved.
    pub extra: Map<String, Value>,
}

impl Message {
    /// Creates a message with the current time, visible to the user and the model.
    pub fn new(id: impl Into<String>, role: Role, content: Vec<Content>) -> Self {
        let now = jiff::Timestamp::now().as_millisecond();
        Self {
            id: id.into(),
            role,
            content,
            created_at_ms: now,
            updated_at_ms: now,
            parent_id: None,
            visibility: Visibility::Both,
            model_id: None,
            reasoning_effort: None,
            extra: Map::new(),
        }
    }

    /// Returns whether this is a record of a hook run instead of a message.
    pub fn is_hook_run(&self) -> bool {
        self.content.is_empty() && self.extra.contains_key("hookEventName")
    }

    /// Returns the text, joined by line breaks, without reasoning and tool results.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Role {
    User,
    Assistant,
    Tool,
    System,
}

/// The audience of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Visibility {
    /// The user and the model.
    #[default]
    Both,
    /// The model only.
    LlmOnly,
    /// The user only.
    UserOnly,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// Reasoning of the model.
    Thinking(Thinking),
    /// A tool call.
    ToolUse(ToolUse),
    /// The result of a tool call, in one form for clients and one for the model.
    ToolResult {
        /// Id of the tool call.
        tool_use_id: String,
        /// The result as shown by clients.
        for_client: Vec<Part>,
        /// The result as sent to the model.
        for_model: Vec<Part>,
        /// Whether the call failed.
        is_error: bool,
    },
    /// An image.
    Image(Media),
    /// A document.
    Document(Media),
    /// Content of an unknown kind, preserved.
    Unknown(Value),
}

impl Role {
    /// Returns the name used on the wire and on disk.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
        }
    }
}

impl Visibility {
    /// Returns the name used on the wire and on disk.
    pub fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::LlmOnly => "llm_only",
            Self::UserOnly => "user_only",
        }
    }
}
