//! A prompt that waits for its turn, and the message it becomes.

use std::sync::Arc;

use serde_json::Value;
use uuid::Uuid;

use crate::command::{Attachment, CommandId, Prompt};
use crate::{Mode, Settings};
use musher_message::{Content, Message, Role, Visibility};

/// A prompt that waits for its turn.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) command_id: Option<CommandId>,
    pub(crate) id: String,
    pub(crate) prompt: Prompt,
    /// The messages that are in the log and still have to be announced.
    pub(crate) written: Option<Vec<Arc<Message>>>,
}

impl Queued {
    pub(crate) fn new(command_id: Option<CommandId>, mut prompt: Prompt) -> Self {
        let id = prompt.message_id.take().unwrap_or_else(|| Uuid::new_v4().to_string());
        Self { command_id, id, prompt, written: None }
    }

    /// Returns the message: images, documents, then the text.
    pub(crate) fn message(&self, settings: &Settings, now_ms: i64) -> Message {
        let prompt = &self.prompt;
        let pictures = prompt.images.iter().cloned().map(Content::Image);
        let documents = prompt.files.iter().map(document);
        let mut content: Vec<Content> = pictures.chain(documents).collect();
        if !prompt.text.is_empty() || content.is_empty() {
            content.push(Content::Text(prompt.text.clone()));
        }
        let mut message = Message {
            id: self.id.clone(),
            role: Role::User,
            content,
            created_at_ms: now_ms,
            updated_at_ms: now_ms,
            parent_id: None,
            visibility: Visibility::Both,
            model_id: None,
            reasoning_effort: None,
            extra: serde_json::Map::new(),
        };
        let mode = if settings.mode == Mode::Spec { "spec" } else { "auto" };
        message.extra.insert("interactionMode".to_owned(), Value::from(mode));
        if let Some(source) = &prompt.source {
            message.extra.insert("userMessageSource".to_owned(), Value::from(source.as_str()));
        }
        message
    }
}

fn document(file: &Attachment) -> Content {
    match file {
        Attachment::Bytes { media, .. } => Content::Document(media.clone()),
        Attachment::Text { text, name, mime } => Content::Document(musher_model::Media {
            media_type: mime.clone().unwrap_or_else(|| "text/plain".to_owned()),
            data: base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text),
            name: name.clone(),
        }),
    }
}
