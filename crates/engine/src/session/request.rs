//! Requests to the model, made from the conversation. Pure.

use base64::Engine as _;
use musher_model::{Block, Cache, Message as ModelMessage, Request, Role as ModelRole, ToolResult, ToolSpec};
use musher_tools::Part;

use super::model_traits::binds_thinking;
use super::state::Session;
use super::thinking::{Origin, Replay};
use crate::budget::request_tokens;
use crate::models::Model;
use musher_message::{Content, Message, Role, Visibility};

/// The part of the window that is left free because sizes are estimated: one twentieth.
const ESTIMATE_MARGIN: u64 = 20;
/// An answer shorter than this is of no use: the vendor decides whether the request fits.
const MIN_ANSWER: u64 = 4096;

/// Builds a request to the model. Also returns what has to be stored with its response.
pub(crate) fn build(
    session: &Session,
    model: &Model,
    system: Vec<String>,
    tools: Vec<ToolSpec>,
) -> (Request, Origin) {
    build_to(session, model, system, tools, usize::MAX)
}

/// Builds a request with the messages before `end`: the beginning of the next request, which the vendor may have cached.
pub(crate) fn build_to(
    session: &Session,
    model: &Model,
    system: Vec<String>,
    tools: Vec<ToolSpec>,
    end: usize,
) -> (Request, Origin) {
    let (summary, kept) = session.conversation().visible();
    let first = session.conversation().messages().len() - kept.len();
    let kept = kept.get(..end.saturating_sub(first).min(kept.len())).unwrap_or_default();
    let is_binding = binds_thinking(&model.name);
    let mut replay = Replay::new(session.model_id(), is_binding, session.accepted(), &system, &tools);
    let mut messages = Vec::with_capacity(kept.len() + 2);
    let lost = session.conversation().lost_context().and_then(|message| to_model(message));
    for message in summary.map(|text| ModelMessage::user(summary_reminder(text))).into_iter().chain(lost) {
        replay.push(&message);
        messages.push(message);
    }
    for (index, message) in kept.iter().enumerate() {
        let Some(mut request) = to_model(message) else { continue };
        omit_unreadable(&mut request, model);
        replay.push_stored(first + index, message, &mut request);
        messages.push(request);
    }
    let origin = replay.origin();
    let mut request = Request::new(model.name.clone(), messages);
    request.system = system;
    request.tools = tools;
    request.effort = session.effort().closest(&model.efforts);
    request.cache = Cache::Long;
    request.cache_key = Some(session.id().as_str().to_owned());
    let used = request_tokens(&request).max(session.usage().context_size());
    request.max_output_tokens =
        model.max_output_tokens.map(|max| output_limit(max, model.context_window, used));
    (request, origin)
}

/// Returns how long the answer to a request of about `used` tokens may be: many vendors reject a request if it and its answer could be longer
/// than the window.
fn output_limit(max: u64, window: Option<u64>, used: u64) -> u64 {
    let Some(window) = window else { return max };
    // the size is an estimate
    let room = window.saturating_sub(used).saturating_sub(window / ESTIMATE_MARGIN);
    max.min(room.max(MIN_ANSWER))
}

/// Replaces documents that the model cannot read by a text: another model may have read them before. Images need nothing, because a provider
/// replaces them for a model without vision.
fn omit_unreadable(message: &mut ModelMessage, model: &Model) {
    for block in &mut message.content {
        match block {
            Block::ToolResult(result) if !model.reads_documents => {
                for block in &mut result.content {
                    if let Block::Document(media) = block {
                        let name = media.name.as_deref().unwrap_or("the file");
                        *block = Block::text(format!(
                            "[PDF omitted: you cannot read {name} as a document; read it again to get its text]"
                        ));
                    }
                }
            }
            Block::Document(media) if !model.accepts_documents => {
                let name = media.name.as_deref().unwrap_or("a document");
                *block =
                    Block::text(format!("[PDF omitted: you cannot read {name}, which the user attached]"));
            }
            _ => {}
        }
    }
}

/// Returns the summary as the model reads it.
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
        Content::Unknown(part) => return is_of_vendor(part).then(|| Block::Other(part.clone())),
    })
}

/// Returns whether a part is the call of a tool that the vendor runs itself, or its result.
fn is_of_vendor(part: &serde_json::Value) -> bool {
    let kind = part.get("type").and_then(serde_json::Value::as_str).unwrap_or_default();
    kind == "server_tool_use" || kind.ends_with("_tool_result") && part.get("tool_use_id").is_some()
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
        Part::Document(media) => document(media),
    }
}

#[cfg(test)]
mod tests {
    use super::output_limit;

    #[test]
    fn request_and_answer_fit_into_the_window() {
        assert_eq!(output_limit(128_000, None, 500_000), 128_000);
        assert_eq!(output_limit(128_000, Some(1_000_000), 100_000), 128_000);
        assert_eq!(output_limit(64_000, Some(200_000), 150_000), 40_000);
        assert_eq!(output_limit(262_144, Some(262_144), 10_000), 239_037, "a limit as large as the window");
        assert_eq!(output_limit(64_000, Some(200_000), 199_000), 4096);
        assert_eq!(output_limit(2000, Some(200_000), 199_000), 2000);
    }
}
