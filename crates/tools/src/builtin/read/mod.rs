//! Read: returns the text of a file, or an image.

mod spec;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::on_thread;
use crate::limits::{MAX_IMAGE_BYTES, MAX_READ_CHARS, MAX_READ_LINES};
use crate::{Action, Context, Input, Part, Resolved, Run, Tool, ToolInfo, ToolOutput, input};

/// Reads a file.
#[derive(Debug, Clone, Copy)]
pub struct Read;

#[derive(Deserialize)]
struct Arguments {
    file_path: String,
    #[serde(default, deserialize_with = "input::count")]
    offset: Option<u64>,
    #[serde(default, deserialize_with = "input::count")]
    limit: Option<u64>,
    image_quality: Option<String>,
}

impl Tool for Read {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        let path = input::required(input, "file_path")?;
        Ok(Action::Read { path, is_recursive: false })
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        let context = context.clone();
        Box::pin(async move {
            match input::parse::<Arguments>(input) {
                Ok(arguments) => on_thread(cancel, move |cancel| read(&arguments, &context, cancel)).await,
                Err(output) => output,
            }
        })
    }
}

fn read(arguments: &Arguments, context: &Context, cancel: &CancellationToken) -> ToolOutput {
    let path = Path::new(&arguments.file_path);
    if !path.is_absolute() {
        let reason = format!(
            "File path must be absolute, but `{}` is relative. The workspace is `{}`. Call Read again with an absolute path.",
            path.display(),
            context.workspace.root().display()
        );
        return ToolOutput::error("File path must be absolute", &reason);
    }
    let failed =
        |error: &io::Error| ToolOutput::error("Failed to read file", &format!("Error reading file: {error}"));
    let resolved = match context.workspace.reach(path, &context.access) {
        Ok(resolved) => resolved,
        Err(error) => return failed(&error),
    };
    if let Some(media_type) = media_type(path) {
        return image(&resolved, media_type, arguments).unwrap_or_else(|error| failed(&error));
    }
    match context.read(&resolved, cancel) {
        Ok((bytes, _)) => {
            context.seen.add(resolved.path);
            text(&bytes, arguments)
        }
        Err(error) => failed(&error),
    }
}

fn media_type(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        _ => None,
    }
}

/// Returns an image unchanged: scaling it down would need a decoder for every format, on untrusted bytes.
fn image(resolved: &Resolved, media_type: &str, arguments: &Arguments) -> io::Result<ToolOutput> {
    let bytes = resolved.read(MAX_IMAGE_BYTES)?;
    let name = resolved.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let quality = arguments.image_quality.as_deref().unwrap_or("default");
    #[expect(clippy::cast_precision_loss, reason = "only one digit is displayed")]
    let size = bytes.len() as f64 / 1024.0;
    let about = format!("Image file: {name} (original size: {size:.1} KB). Image quality: {quality}");
    let image = Part::Image { media_type: media_type.to_owned(), data: STANDARD.encode(&bytes) };
    let mut output = ToolOutput::text(about);
    output.for_client.push(image.clone());
    output.for_model.push(image);
    Ok(output)
}

/// Decodes text. Bytes that are not UTF-8 are read as Latin-1.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(_) => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
    }
}

fn text(bytes: &[u8], arguments: &Arguments) -> ToolOutput {
    let all = decoded(bytes);
    let all = if all.contains('\r') { Cow::Owned(all.replace("\r\n", "\n")) } else { all };
    let lines: Vec<&str> = all.split('\n').collect();
    let skip = usize::try_from(arguments.offset.unwrap_or(0).saturating_sub(1)).unwrap_or(usize::MAX);
    let limit = usize::try_from(arguments.limit.unwrap_or(MAX_READ_LINES as u64))
        .unwrap_or(usize::MAX)
        .min(MAX_READ_LINES);
    let from = skip.min(lines.len());
    let to = from.saturating_add(limit).min(lines.len());
    let is_part =
        arguments.offset.is_some_and(|offset| offset > 1) || arguments.limit.is_some() || to < lines.len();
    let mut slice = lines[from..to].join("\n");
    let cut = slice.char_indices().nth(MAX_READ_CHARS).map(|(at, _)| at);
    if let Some(at) = cut {
        slice.truncate(at);
    }
    let shown = slice.strip_suffix('\n').unwrap_or(&slice).to_owned();
    if !is_part && cut.is_none() {
        return ToolOutput::two(shown, slice);
    }
    let first = skip.saturating_add(1);
    let last = if to > from { to } else { skip };
    let cut = if cut.is_some() { ", truncated to 60k characters" } else { "" };
    let note = format!(
        "<system-reminder>Showing lines {first}-{last} of {} total lines{cut}</system-reminder>",
        lines.len()
    );
    let for_model = if slice.is_empty() { note } else { format!("{slice}\n\n{note}") };
    ToolOutput::two(shown, for_model)
}
