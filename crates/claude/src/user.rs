//! User messages: text, images or any content blocks.

use musher_wire::Json;
use serde::Serialize;
use uuid::Uuid;

use crate::protocol::print;

/// A user message with its own id.
///
/// ```
/// use musher_claude::UserMessage;
///
/// let message = UserMessage::text("What is this?").image("image/png", "iVBORw0KGgo=");
/// assert!(message.to_line().contains(r#""media_type":"image/png""#));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct UserMessage {
    uuid: String,
    content: UserContent,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum UserContent {
    Text(String),
    Blocks(Vec<Json>),
}

impl UserMessage {
    /// Creates a text message. Text that starts with a slash is a command of the CLI.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(UserContent::Text(text.into()))
    }

    /// Creates a message of content blocks, in the format of the vendor's API.
    pub fn blocks(blocks: impl IntoIterator<Item = Json>) -> Self {
        Self::new(UserContent::Blocks(blocks.into_iter().collect()))
    }

    /// Adds a base64-encoded image.
    #[must_use]
    pub fn image(mut self, media_type: &str, base64: &str) -> Self {
        let image = serde_json::json!({
            "type": "image",
            "source": {"type": "base64", "media_type": media_type, "data": base64},
        });
        let mut blocks = match self.content {
            UserContent::Text(text) => vec![Json::from(serde_json::json!({"type": "text", "text": text}))],
            UserContent::Blocks(blocks) => blocks,
        };
        blocks.push(image.into());
        self.content = UserContent::Blocks(blocks);
        self
    }

    /// Returns the id of this message, for example for rewinding files.
    pub fn uuid(&self) -> &str {
        &self.uuid
    }

    /// Returns the line for the CLI.
    pub fn to_line(&self) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            r#type: &'static str,
            message: Message<'a>,
            parent_tool_use_id: Option<()>,
            session_id: &'static str,
            uuid: &'a str,
        }
        #[derive(Serialize)]
        struct Message<'a> {
            role: &'static str,
            content: &'a UserContent,
        }
        print(&Line {
            r#type: "user",
            message: Message { role: "user", content: &self.content },
            parent_tool_use_id: None,
            session_id: "",
            uuid: &self.uuid,
        })
    }

    fn new(content: UserContent) -> Self {
        Self { uuid: Uuid::new_v4().to_string(), content }
    }
}

impl<T: Into<String>> From<T> for UserMessage {
    fn from(text: T) -> Self {
        Self::text(text)
    }
}
