//! A message of the user as the SDK takes it: text, images, files. Pure.

use musher::wire::Source;
use musher::{Image, Prompt, Session};
use musher_claude::Json;
use serde::Deserialize;
use uuid::Uuid;

use crate::wire::request::PromptContent;

/// A message that waits for its turn.
#[derive(Debug)]
pub(super) struct UserMessage {
    /// Names the message, and the turn.
    id: String,
    text: String,
    images: Vec<Image>,
    files: Vec<Source>,
}

impl UserMessage {
    /// Reads content blocks; the error is for the front end.
    pub(super) fn new(content: PromptContent) -> Result<Self, String> {
        let id = Uuid::new_v4().to_string();
        let mut message = Self { id, text: String::new(), images: Vec::new(), files: Vec::new() };
        match content {
            PromptContent::Text(text) => message.text = text,
            PromptContent::Blocks(blocks) => blocks.iter().try_for_each(|block| message.add(block))?,
        }
        Ok(message)
    }

    fn add(&mut self, block: &Json) -> Result<(), String> {
        match block.to().map_err(|error| format!("a content block cannot be read: {error}"))? {
            Block::Text { text } => {
                if !self.text.is_empty() {
                    self.text.push_str("\n\n");
                }
                self.text.push_str(&text);
            }
            Block::Image { source: BlockSource::Base64 { media_type, data } } => {
                self.images
                    .push(Image::base64(&media_type, data).map_err(|error| error.with_causes().to_string())?);
            }
            Block::Document { source: BlockSource::Base64 { media_type, data }, title } => {
                self.files.push(Source { name: title, ..Source::base64(media_type, data) });
            }
            Block::Document { source: BlockSource::Text { data }, title } => {
                self.files.push(Source { name: title, ..Source::text(data) });
            }
            Block::Image { .. } | Block::Document { .. } => {
                return Err("this agent takes pictures and files as base64 only".to_owned());
            }
            Block::Other => {
                return Err("this agent takes content blocks of text, pictures and documents only".to_owned());
            }
        }
        Ok(())
    }

    /// Returns the size of the text and the files, in bytes.
    pub(super) fn size(&self) -> usize {
        // images hide their size, but each came in one line, whose size is limited
        self.text.len() + self.files.iter().map(|file| file.data.len()).sum::<usize>()
    }

    pub(super) fn prompt(self, session: &Session) -> Prompt {
        let prompt = session.send(self.text).message_id(self.id).partial();
        let mut prompt = self.images.into_iter().fold(prompt, Prompt::image);
        if !self.files.is_empty() {
            prompt.params_mut().files = Some(self.files);
        }
        prompt
    }
}

/// A content block of the vendor's API.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    Image {
        source: BlockSource,
    },
    Document {
        source: BlockSource,
        title: Option<String>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockSource {
    Base64 {
        media_type: String,
        data: String,
    },
    Text {
        data: String,
    },
    #[serde(other)]
    Other,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn message(blocks: Value) -> Result<UserMessage, String> {
        let Value::Array(blocks) = blocks else { panic!("not a list") };
        UserMessage::new(PromptContent::Blocks(blocks.into_iter().map(Json::from).collect()))
    }

    #[test]
    fn text_pictures_and_documents_are_taken() {
        let said = message(json!([
            {"type": "text", "text": "one"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
            {"type": "document", "title": "n.txt", "source": {"type": "text", "media_type": "text/plain", "data": "notes"}},
            {"type": "text", "text": "two"}
        ]))
        .unwrap();
        assert_eq!((said.text.as_str(), said.images.len(), said.files.len()), ("one\n\ntwo", 1, 1));
        assert_eq!(said.files[0].name.as_deref(), Some("n.txt"));
    }

    #[test]
    fn unsupported_content_blocks_are_errors() {
        for block in [
            json!({"type": "image", "source": {"type": "url", "url": "http://localhost/x.png"}}),
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": "Qk0="}}),
            json!({"type": "tool_result", "tool_use_id": "t"}),
            json!({"no": "type"}),
        ] {
            assert!(message(json!([block.clone()])).is_err(), "{block}");
        }
    }
}
