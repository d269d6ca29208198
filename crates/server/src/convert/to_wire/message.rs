//! Messages of the conversation: new ones, and those of the history.

use musher_engine as engine;
use musher_engine::{Content, Part, Proof, Role, Visibility};
use musher_wire as wire;
use musher_wire::{ContentBlock, Json, MessageRole, ToolResultContent};

use super::moment;

/// Returns a message that was just stored. The text of messages for the model alone is left out.
pub(super) fn announced(message: &engine::Message) -> wire::Message {
    let is_internal = message.id.starts_with("context-") || message.id.starts_with("__internal__");
    let content = if is_internal { Vec::new() } else { blocks(&message.content) };
    let mut it = whole(message, content);
    it.parent_id.get_or_insert_with(|| "root".to_owned());
    it
}

/// Returns a message of the history.
pub(crate) fn from_history(message: &engine::Message) -> wire::Message {
    whole(message, blocks(&message.content))
}

fn whole(message: &engine::Message, content: Vec<ContentBlock>) -> wire::Message {
    let mut it = wire::Message::new(message.id.as_str(), role(message.role), content);
    it.created_at = Some(moment(message.created_at_ms));
    it.updated_at = Some(moment(message.updated_at_ms));
    it.parent_id.clone_from(&message.parent_id);
    it.visibility = match message.visibility {
        Visibility::Both => None,
        Visibility::LlmOnly => Some(wire::Visibility::LlmOnly),
        Visibility::UserOnly => Some(wire::Visibility::UserOnly),
    };
    it.model_id.clone_from(&message.model_id);
    it.reasoning_effort = message.reasoning_effort.as_deref().map(Into::into);
    // the fields of musher are for the store alone
    for (key, value) in message.extra.iter().filter(|(key, _)| *key != "musher") {
        it.extra.insert(key, value);
    }
    it
}

fn role(role: Role) -> MessageRole {
    match role {
        Role::User => MessageRole::User,
        Role::Assistant => MessageRole::Assistant,
        Role::Tool => MessageRole::Tool,
        Role::System => MessageRole::System,
    }
}

fn blocks(content: &[Content]) -> Vec<ContentBlock> {
    content.iter().filter_map(block).collect()
}

fn block(content: &Content) -> Option<ContentBlock> {
    Some(match content {
        Content::Text(text) => wire::TextBlock::new(text.as_str()).into(),
        Content::Thinking(thinking) => thought(thinking),
        Content::ToolUse(call) => {
            let input = Json::new(&call.input).unwrap_or_else(|_| Json::empty_object());
            wire::ToolUse::new(call.id.as_str(), call.name.as_str(), input).into()
        }
        Content::ToolResult { tool_use_id, for_client, is_error, .. } => {
            let mut block = wire::ToolResultBlock::new(tool_use_id.as_str(), result(for_client));
            block.is_error = Some(*is_error);
            block.into()
        }
        Content::Image(media) => wire::ImageBlock::new(source(media)).into(),
        Content::Document(media) => wire::DocumentBlock::new(source(media)).into(),
        Content::Unknown(value) => Json::from(value).to().ok()?,
    })
}

fn thought(thinking: &engine::Thinking) -> ContentBlock {
    let (signature, provider) = match &thinking.proof {
        Some(Proof::Redacted { data }) => return wire::RedactedThinkingBlock::new(data.as_str()).into(),
        Some(Proof::Signature { signature }) => (signature.clone(), Some("anthropic")),
        Some(Proof::Encrypted { id, .. }) => (id.clone(), Some("openai")),
        Some(Proof::Plain) => ("reasoning_content".to_owned(), Some("generic-chat-completion-api")),
        Some(Proof::Details { .. }) | None => (String::new(), None),
    };
    let mut block = wire::ThinkingBlock::new(thinking.text.as_str());
    block.signature = Some(signature);
    block.signature_provider = provider.map(ToOwned::to_owned);
    block.into()
}

fn source(media: &engine::Media) -> wire::Source {
    let mut source = match media.plain_text() {
        Some(text) => wire::Source::text(text.as_str()),
        None => wire::Source::base64(media.media_type.as_str(), media.data.as_str()),
    };
    source.name.clone_from(&media.name);
    source
}

/// Returns the content of a tool result: a plain text if it is one, else blocks.
pub(super) fn result(parts: &[Part]) -> ToolResultContent {
    match parts {
        [] => ToolResultContent::Text(String::new()),
        [Part::Text(text)] => ToolResultContent::Text(text.clone()),
        parts => ToolResultContent::Blocks(parts.iter().map(part).collect()),
    }
}

fn part(part: &Part) -> ContentBlock {
    match part {
        Part::Text(text) => wire::TextBlock::new(text.as_str()).into(),
        Part::Image { media_type, data } => {
            wire::ImageBlock::new(wire::Source::base64(media_type.as_str(), data.as_str())).into()
        }
        Part::Document(media) => wire::DocumentBlock::new(source(media)).into(),
    }
}
