//! A message, and the parts that it is made of.

use serde_json::{Map, Value};

use crate::{Media, Part, Thinking, ToolUse};

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its id.
    pub id: String,
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Vec<Content>,
    /// When it began.
    pub created_at_ms: i64,
    /// When it was complete.
    pub updated_at_ms: i64,
    /// The message before it.
    pub parent_id: Option<String>,
    /// Who sees it.
    pub visibility: Visibility,
    /// The model that wrote it, or that it is for.
    pub model_id: Option<String>,
    /// How much that model thought.
    pub reasoning_effort: Option<String>,
    /// Fields we do not know.
    pub extra: Map<String, Value>,
}

impl Message {
    /// A message of now, visible to everyone.
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

    /// Whether it is no message at all but tells that hooks have run.
    pub fn is_hook_run(&self) -> bool {
        self.content.is_empty() && self.extra.contains_key("hookEventName")
    }

    /// All its text, without thinking and the results of tools.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Role {
    User,
    Assistant,
    Tool,
    System,
}

/// Who sees a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Visibility {
    /// Everyone.
    #[default]
    Both,
    /// Only the model.
    LlmOnly,
    /// Only people.
    UserOnly,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// What the model thought.
    Thinking(Thinking),
    /// A call of a tool.
    ToolUse(ToolUse),
    /// What came of it: the text for people and the text for the model.
    ToolResult {
        /// The id of the call.
        tool_use_id: String,
        /// What clients see.
        for_client: Vec<Part>,
        /// What the model sees.
        for_model: Vec<Part>,
        /// Whether it failed.
        is_error: bool,
    },
    /// A picture.
    Image(Media),
    /// A document.
    Document(Media),
    /// Something else, as it was found.
    Unknown(Value),
}

impl Role {
    /// Its name, on the wire and on disk.
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
    /// Its name, on the wire and on disk.
    pub fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::LlmOnly => "llm_only",
            Self::UserOnly => "user_only",
        }
    }
}
