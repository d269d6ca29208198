//! What a prompt is made of, from the editor to the agent, and the way back when a session is loaded.

use std::path::PathBuf;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource, ImageContent, TextContent};
use musher::Image;
use musher::wire::{ContentBlock as WireBlock, Message, Source};

use crate::registry::explained;

/// The start of embedded text; everything after the first one is not the user's own text.
const ATTACHED: &str = "\n\n<attachment uri=\"";

/// A prompt as the agent takes it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Parts {
    pub(crate) text: String,
    pub(crate) images: Vec<Image>,
    pub(crate) files: Vec<Source>,
    /// The files that are only named.
    pub(crate) linked: Vec<PathBuf>,
    attached: String,
}

impl Parts {
    /// Puts a text beside the prompt.
    pub(crate) fn attach(&mut self, uri: &str, text: &str) {
        self.attached += &[ATTACHED, uri, "\">\n", text, "\n</attachment>"].concat();
    }

    /// Returns all text, with its attachments.
    pub(crate) fn whole_text(&self) -> String {
        [self.text.as_str(), &self.attached].concat()
    }
}

/// Reads a prompt. What the agent cannot be given is an error, never left out silently.
pub(crate) fn parts(prompt: &[ContentBlock]) -> Result<Parts, Error> {
    let mut parts = Parts::default();
    for block in prompt {
        match block {
            ContentBlock::Text(text) => parts.text.push_str(&text.text),
            ContentBlock::ResourceLink(link) => {
                if is_elsewhere(&link.uri) {
                    return Err(invalid(&format!(
                        "cannot read `{}`: the file is on another machine",
                        link.uri
                    )));
                }
                parts.text.push_str(&mention(&link.uri));
                parts.linked.extend(file(&link.uri).map(|(path, _)| PathBuf::from(path)));
            }
            ContentBlock::Image(image) => {
                let image = Image::base64(&image.mime_type, &*image.data);
                parts.images.push(image.map_err(|error| invalid(&error.with_causes().to_string()))?);
            }
            ContentBlock::Resource(embedded) => match &embedded.resource {
                EmbeddedResourceResource::TextResourceContents(text) => {
                    parts.text.push_str(&mention(&text.uri));
                    parts.attach(&text.uri, &text.text);
                }
                EmbeddedResourceResource::BlobResourceContents(blob) => match blob.mime_type.as_deref() {
                    Some("application/pdf") => {
                        let name = Some(shown_uri(&blob.uri));
                        parts.files.push(Source { name, ..Source::base64("application/pdf", &*blob.blob) });
                    }
                    Some(kind) if kind.starts_with("image/") => {
                        let image = Image::base64(kind, &*blob.blob);
                        parts.images.push(image.map_err(|error| invalid(&error.with_causes().to_string()))?);
                    }
                    other => return Err(invalid(&format!("cannot attach {}", other.unwrap_or("this blob")))),
                },
                _ => return Err(invalid("this kind of resource is not known")),
            },
            ContentBlock::Audio(_) => return Err(invalid("audio is not supported")),
            _ => return Err(invalid("this kind of content is not known")),
        }
    }
    Ok(parts)
}

/// Returns a message of the user as it was before it was sent: without what we or the agent put around it.
pub(crate) fn shown(message: &Message) -> Vec<ContentBlock> {
    let blocks = message.content.iter().filter_map(|block| match block {
        WireBlock::Text(block) => {
            let own = own_words(&block.text);
            (!own.is_empty()).then(|| ContentBlock::Text(TextContent::new(own)))
        }
        WireBlock::Image(image) => Some(ContentBlock::Image(ImageContent::new(
            image.source.data.clone(),
            image.source.media_type.clone(),
        ))),
        _ => None,
    });
    blocks.collect()
}

/// Returns the text without attachments and reminders.
fn own_words(text: &str) -> String {
    let mut own = text.split(ATTACHED).next().unwrap_or_default().to_owned();
    while let Some(start) = own.find("<system-reminder>") {
        let rest = &own[start..];
        let end =
            rest.find("</system-reminder>").map_or(own.len(), |at| start + at + "</system-reminder>".len());
        own.replace_range(start..end, "");
    }
    own.trim().to_owned()
}

/// Returns how a link reads in the text: the path of a file, or the address.
fn mention(uri: &str) -> String {
    format!("@{}", shown_uri(uri))
}

fn shown_uri(uri: &str) -> String {
    file(uri).map_or_else(|| uri.to_owned(), |(path, place)| path + place)
}

/// Returns the path in the address of a file, and the place in it, such as `#L10:20`.
fn file(uri: &str) -> Option<(String, &str)> {
    let (host, path) = host_and_path(uri)?;
    let (path, place) = path.split_at(path.find('#').unwrap_or(path.len()));
    is_here(host).then(|| (decoded(path), place))
}

/// Returns whether this is the address of a file on another machine.
fn is_elsewhere(uri: &str) -> bool {
    host_and_path(uri).is_some_and(|(host, _)| !is_here(host))
}

fn is_here(host: &str) -> bool {
    host.is_empty() || host.eq_ignore_ascii_case("localhost")
}

/// Returns the host and the path in the address of a file. The path begins with a slash or is empty.
fn host_and_path(uri: &str) -> Option<(&str, &str)> {
    let scheme = uri.get(.."file://".len()).filter(|scheme| scheme.eq_ignore_ascii_case("file://"))?;
    let rest = &uri[scheme.len()..];
    Some(rest.split_at(rest.find(['/', '#', '?']).unwrap_or(rest.len())))
}

/// Decodes percent escapes. Invalid escapes stay as they are.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escape = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let escape = escape.and_then(|digits| std::str::from_utf8(digits).ok());
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(escaped) if byte == b'%' => {
                bytes.push(escaped);
                rest = &after[2..];
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn invalid(why: &str) -> Error {
    explained(&Error::invalid_params(), why)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(prompt: Value) -> Result<Parts, Error> {
        parts(&serde_json::from_value::<Vec<ContentBlock>>(prompt).unwrap())
    }

    #[test]
    fn every_kind_of_block_reaches_the_agent() {
        let prompt = json!([
            {"type": "text", "text": "Look at "},
            {"type": "resource_link", "uri": "file:///w/a.rs", "name": "a.rs"},
            {"type": "text", "text": " and "},
            {"type": "resource", "resource": {"uri": "file:///w/b.rs", "text": "fn b() {}"}},
            {"type": "image", "mimeType": "image/png", "data": "iVBORw=="},
            {"type": "resource", "resource": {"uri": "file:///w/c.pdf", "blob": "JVBERi0=", "mimeType": "application/pdf"}},
        ]);
        let parts = read(prompt).unwrap();
        let attached = "<attachment uri=\"file:///w/b.rs\">\nfn b() {}\n</attachment>";
        assert_eq!(parts.whole_text(), format!("Look at @/w/a.rs and @/w/b.rs\n\n{attached}"));
        assert_eq!(parts.linked, [PathBuf::from("/w/a.rs")]);
        assert_eq!(parts.images, [Image::base64("image/png", "iVBORw==").unwrap()]);
        assert_eq!((parts.files.len(), parts.files[0].name.as_deref()), (1, Some("/w/c.pdf")));
    }

    #[test]
    fn file_uri_becomes_a_path() {
        for (uri, shown) in [
            ("file:///w/a%20b.rs", "/w/a b.rs"),
            ("file:///w/%C3%A4.rs#L10:20", "/w/ä.rs#L10:20"),
            ("file:///w/100%", "/w/100%"),
            ("file:///w/%zz%+1", "/w/%zz%+1"),
            ("file://localhost/w/a.rs", "/w/a.rs"),
            ("FILE:///w/a.rs", "/w/a.rs"),
            ("file://host/w/a.rs", "file://host/w/a.rs"),
            ("https://example.org/a%20b", "https://example.org/a%20b"),
        ] {
            assert_eq!(shown_uri(uri), shown);
        }
    }

    #[test]
    fn unsupported_content_is_rejected() {
        for block in [
            json!({"type": "image", "mimeType": "image/bmp", "data": "Qk0="}),
            json!({"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="}),
            json!({"type": "resource", "resource": {"uri": "file:///a.zip", "blob": "UEs="}}),
        ] {
            assert_eq!(i32::from(read(json!([block])).unwrap_err().code), -32602);
        }
    }

    #[test]
    fn link_to_a_file_on_another_machine_is_rejected() {
        for uri in [
            "file://host/etc/passwd",
            "file://127.0.0.1/etc/passwd",
            "file://localhost.evil.example/x",
            "file://a@b/x",
        ] {
            let error = read(json!([{"type": "resource_link", "uri": uri, "name": "x"}])).unwrap_err();
            assert_eq!(i32::from(error.code), -32602);
            assert!(format!("{error:?}").contains("another machine"), "{error:?}");
        }
    }

    #[test]
    fn loaded_message_shows_only_the_users_text() {
        let sent = read(json!([
            {"type": "text", "text": "Explain "},
            {"type": "resource", "resource": {"uri": "file:///w/b.rs", "text": "fn b() {}"}},
        ]));
        let stored = format!("<system-reminder>be kind</system-reminder>\n{}", sent.unwrap().whole_text());
        let content = json!([{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": stored}]);
        let message = json!({"id": "m", "role": "user", "content": content});
        let message: Message = serde_json::from_value(message).unwrap();
        assert_eq!(shown(&message), [ContentBlock::Text(TextContent::new("Explain @/w/b.rs"))]);
    }
}
