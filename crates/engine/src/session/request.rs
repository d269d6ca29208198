//! Requests to the model, made from the conversation. Pure.

use base64::Engine as _;
use musher_model::{Block, Cache, Message as ModelMessage, Request, Role as ModelRole, ToolResult, ToolSpec};
use musher_tools::Part;

use super::state::Session;
use crate::models::Model;
use musher_message::{Content, Message, Role, Visibility};

/// Builds a request to the model.
pub(crate) fn build(session: &Session, model: &Model, system: Vec<String>, tools: Vec<ToolSpec>) -> Request {
    let (summary, kept) = session.conversation().visible();
    let summary = summary.map(|text| ModelMessage::user(summary_reminder(text)));
    let kept =
        session.conversation().lost_context().into_iter().chain(kept).filter_map(|message| to_model(message));
    let messages = summary.into_iter().chain(kept).collect();
    let mut request = Request::new(model.name.clone(), messages);
    request.system = system;
    request.tools = tools;
    request.effort = Some(session.effort()).filter(|effort| model.efforts.contains(effort));
    request.max_output_tokens = model.max_output_tokens;
    request.cache = Cache::Long;
    request.cache_key = Some(session.id().as_str().to_owned());
    request
}

/// The summary as the model reads it.
fn summary_reminder(summary: &str) -> String {
    format!(
        "<system-reminder>\nThe beginning of this conversation was replaced by this summary:\n\n{summary}\n</system-reminder>"
    )
}

/// Returns a message as the model reads it, or `None` if it does not.
pub(crate) fn to_model(message: &Message) -> Option<ModelMessage> {
    if message.visibility == Visibility::UserOnly {
        return None;
    }
    let role = match message.role {
        Role::Assistant => ModelRole::Assistant,
        Role::User | Role::Tool | Role::System => ModelRole::User,
    };
    let content: Vec<Block> = message.content.iter().filter_map(block).collect();
    (!content.is_empty()).then_some(ModelMessage { role, content })
}

fn block(content: &Content) -> Option<Block> {
    Some(match content {
        Content::Text(text) => Block::text(text.clone()),
        Content::Thinking(thinking) => Block::Thinking(thinking.clone()),
        Content::ToolUse(call) => Block::ToolUse(call.clone()),
        Content::ToolResult { tool_use_id, for_model, is_error, .. } => Block::ToolResult(ToolResult {
            id: tool_use_id.clone(),
            content: for_model.iter().map(part).collect(),
            is_error: *is_error,
        }),
        Content::Image(media) => Block::Image(media.clone()),
        Content::Document(media) => document(media),
        Content::Unknown(_) => return None,
    })
}

/// Returns a document. Plain text becomes a text block, because not every vendor accepts it as a document.
fn document(media: &musher_model::Media) -> Block {
    let text = media.media_type.starts_with("text/").then(|| {
        let bytes = base64::engine::general_purpose::STANDARD.decode(&media.data).ok()?;
        String::from_utf8(bytes).ok()
    });
    match text.flatten() {
        None => Block::Document(media.clone()),
        Some(text) => {
            let name = media.name.as_deref().unwrap_or("attachment");
            Block::text(format!("<document name=\"{name}\">\n{text}\n</document>"))
        }
    }
}

fn part(part: &Part) -> Block {
    match part {
        Part::Text(text) => Block::text(text.clone()),
        Part::Image { media_type, data } => Block::Image(musher_model::Media {
            media_type: media_type.clone(),
            data: data.clone(),
            name: None,
        }),
    }
}
