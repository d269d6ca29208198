//! Converts the result of a server to a tool output: texts and images; other content is replaced by a short description.

use std::fmt::Write;

use musher_tools::{Part, ToolOutput};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// The maximum size of the texts of a result, in bytes. More would crowd out the conversation.
const MAX_TEXT: usize = 100_000;
/// The maximum size of an image, in bytes of base64.
const MAX_IMAGE: usize = 7 << 20;
const MAX_IMAGES: usize = 20;

pub(super) fn output(result: CallToolResult) -> ToolOutput {
    let mut parts: Vec<Part> = result.content.into_iter().map(part).collect();
    if parts.is_empty()
        && let Some(structured) = result.structured_content
    {
        parts.push(Part::Text(structured.to_string()));
    }
    bound(&mut parts);
    if result.is_error == Some(true) {
        return failure(&joined(&parts));
    }
    if parts.is_empty() {
        parts.push(Part::Text("The tool gave no output.".to_owned()));
    }
    let mut output = ToolOutput::text("");
    output.for_client.clone_from(&parts);
    output.for_model = parts;
    output
}

/// Returns the output of a failed call, in the form that clients expect.
pub(super) fn failure(text: &str) -> ToolOutput {
    ToolOutput::error(&format!("Error: {text}"), text)
}

fn part(block: ContentBlock) -> Part {
    let text = match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => return picture(image.mime_type, image.data),
        ContentBlock::Audio(audio) => format!("[sound of type {}, which cannot be shown]", audio.mime_type),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { text, .. } => text,
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => match mime_type {
                Some(kind) if kind.starts_with("image/") => return picture(kind, blob),
                _ => format!("[data of {uri}, which cannot be shown]"),
            },
            _ => "[a resource of an unknown kind]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[resource {}: {}]", link.name, link.uri),
        _ => "[content of an unknown kind]".to_owned(),
    };
    Part::Text(text)
}

fn picture(media_type: String, data: String) -> Part {
    let is_known = matches!(media_type.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp");
    if is_known && data.len() <= MAX_IMAGE {
        Part::Image { media_type, data }
    } else {
        Part::Text(format!("[picture of type {media_type}, which cannot be shown]"))
    }
}

fn bound(parts: &mut [Part]) {
    let mut left = MAX_TEXT;
    let mut images = 0;
    for part in parts.iter_mut() {
        match part {
            Part::Text(text) if text.len() > left => {
                let mut end = left;
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                let all = text.len();
                text.truncate(end);
                // writing to a string cannot fail
                write!(text, "\n[cut: {} of {all} bytes are left out]", all - end).ok();
                left = 0;
            }
            Part::Text(text) => left -= text.len(),
            Part::Image { .. } => images += 1,
            Part::Document(_) => {}
        }
        if images > MAX_IMAGES && matches!(part, Part::Image { .. }) {
            *part = Part::Text("[one more picture]".to_owned());
        }
    }
}

fn joined(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Image { .. } => "[picture]",
        Part::Document(_) => "[document]",
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(result: serde_json::Value) -> ToolOutput {
        output(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn texts_pictures_and_what_cannot_be_shown() {
        let output = read(json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "two"}},
            {"type": "resource_link", "uri": "file:///b", "name": "b"},
        ]}));
        assert_eq!(
            output.client_text(),
            "one\n[sound of type audio/wav, which cannot be shown]\ntwo\n[resource b: file:///b]"
        );
        assert_eq!(
            output.for_model[1],
            Part::Image { media_type: "image/png".to_owned(), data: "AAAA".to_owned() }
        );
        assert!(!output.is_error);
    }

    #[test]
    fn failure_has_the_form_that_clients_expect() {
        let output = read(json!({"content": [{"type": "text", "text": "no such row"}], "isError": true}));
        assert_eq!((output.client_text().as_str(), output.is_error), ("Error: Error: no such row", true));
        assert_eq!(output.model_text(), "Error: no such row");
    }

    #[test]
    fn structured_content_counts_if_there_is_no_other_and_long_texts_are_cut() {
        assert_eq!(read(json!({"content": [], "structuredContent": {"a": 1}})).client_text(), r#"{"a":1}"#);
        assert_eq!(read(json!({"content": []})).client_text(), "The tool gave no output.");
        let long = "é".repeat(MAX_TEXT);
        let output =
            read(json!({"content": [{"type": "text", "text": long}, {"type": "text", "text": "x"}]}));
        assert!(output.model_text().len() < MAX_TEXT + 200);
        assert!(output.model_text().contains("of 200000 bytes are left out]"));
    }
}
