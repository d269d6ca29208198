//! What a user says to the CLI: text, images or any content blocks.

use musher_wire::Json;
use serde::Serialize;
use uuid::Uuid;

use crate::protocol::print;

/// A message of the user, with an id of its own.
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
    content: Said,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Said {
    Text(String),
    Blocks(Vec<Json>),
}

impl UserMessage {
    /// A message of text. Text that begins with a slash is a command to the CLI.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Said::Text(text.into()))
    }

    /// A message of content blocks, as the vendor's API has them.
    pub fn blocks(blocks: impl IntoIterator<Item = Json>) -> Self {
        Self::new(Said::Blocks(blocks.into_iter().collect()))
    }

    /// Adds an image, encoded in base64.
    #[must_use]
    pub fn image(mut self, media_type: &str, base64: &str) -> Self {
        let image = serde_json::json!({
            "type": "image",
            "source": {"type": "base64", "media_type": media_type, "data": base64},
        });
        let mut blocks = match self.content {
            Said::Text(text) => vec![Json::from(serde_json::json!({"type": "text", "text": text}))],
            Said::Blocks(blocks) => blocks,
        };
        blocks.push(image.into());
        self.content = Said::Blocks(blocks);
        self
    }

    /// The id to name this message by later, for example to rewind files.
    pub fn uuid(&self) -> &str {
        &self.uuid
    }

    /// The line the CLI reads.
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
            content: &'a Said,
        }
        print(&Line {
            r#type: "user",
            message: Message { role: "user", content: &self.content },
            parent_tool_use_id: None,
            session_id: "",
            uuid: &self.uuid,
        })
    }

    fn new(content: Said) -> Self {
        Self { uuid: Uuid::new_v4().to_string(), content }
    }
}

impl<T: Into<String>> From<T> for UserMessage {
    fn from(text: T) -> Self {
        Self::text(text)
    }
}
