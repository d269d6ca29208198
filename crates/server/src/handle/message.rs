//! User messages.

use musher_engine::{Attachment, Command, Prompt};
use musher_wire as wire;
use musher_wire::{Request, RpcError};

use super::asks;
use crate::convert::from_wire;
use crate::dispatch::Handled;
use crate::params;

/// The image types that a client may send.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

pub(super) fn add(request: &Request) -> Handled {
    let given = params::read::<wire::AddUserMessage>(request)?;
    let mut images = Vec::new();
    for (index, image) in given.images.unwrap_or_default().into_iter().enumerate() {
        images.push(picture(request, index, image)?);
    }
    let mut files = Vec::new();
    for (index, file) in given.files.unwrap_or_default().into_iter().enumerate() {
        files.push(attachment(request, index, file)?);
    }
    let output_schema = match given.output_format {
        Some(format) => Some(output_schema(request, &format)?),
        None => None,
    };
    asks(Command::Prompt(Box::new(Prompt {
        message_id: given.message_id,
        text: given.text,
        images,
        files,
        output_schema,
        source: given.user_message_source.map(|source| source.as_str().to_owned()),
        waits_for_end: given.queue_placement.as_deref() == Some("end_of_turn"),
        trace_parent: request
            .envelope
            .meta
            .as_ref()
            .and_then(wire::TraceParent::of_meta)
            .map(|it| it.as_str().to_owned()),
        waits_for_session: given.wait_for_session.unwrap_or(false),
    })))
}

fn picture(request: &Request, index: usize, image: wire::Source) -> Result<musher_engine::Media, RpcError> {
    let place = |field: &str| format!("images.{index}.{field}");
    if image.kind != "base64" {
        return Err(params::wrong(request, &place("type"), "Invalid literal value, expected \"base64\""));
    }
    if !IMAGES.contains(&image.media_type.as_str()) {
        let why = format!("Invalid value, expected one of {}", IMAGES.join(", "));
        return Err(params::wrong(request, &place("mediaType"), &why));
    }
    Ok(from_wire::media(image))
}

fn attachment(request: &Request, index: usize, file: wire::Source) -> Result<Attachment, RpcError> {
    match (file.kind.as_str(), file.media_type.as_str()) {
        ("base64", "application/pdf") => Ok(Attachment::Bytes {
            path: file.path.clone(),
            parsed: file.parsed_data.clone(),
            media: from_wire::media(file),
        }),
        ("text", "text/plain") => Ok(Attachment::Text { text: file.data, name: file.name, mime: file.mime }),
        _ => {
            let why = "Invalid value, expected base64 with application/pdf or text with text/plain";
            Err(params::wrong(request, &format!("files.{index}"), why))
        }
    }
}

fn output_schema(request: &Request, format: &wire::OutputFormat) -> Result<serde_json::Value, RpcError> {
    if format.kind != "json_schema" {
        let why = "Invalid literal value, expected \"json_schema\"";
        return Err(params::wrong(request, "outputFormat.type", why));
    }
    match format.schema.to_value() {
        Ok(schema) if schema.is_object() => Ok(schema),
        _ => Err(params::wrong(request, "outputFormat.schema", "Expected object")),
    }
}
