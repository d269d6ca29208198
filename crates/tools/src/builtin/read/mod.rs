//! Read: returns the text of a file, the cells of a notebook, an image, or a document.

mod kind;
mod spec;
#[cfg(test)]
mod tests;
mod text;

use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::on_thread;
use crate::advice::with_advice;
use crate::limits::{MAX_DOCUMENT_BYTES, MAX_DOCUMENT_PAGES, MAX_IMAGE_BYTES};
use crate::notebook::Notebook;
use crate::{Action, Context, Input, Media, Part, Run, Tool, ToolInfo, ToolOutput, input, pdf};
use kind::Kind;
use text::Wanted;

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

impl Arguments {
    fn wanted(&self) -> Wanted {
        Wanted { offset: self.offset, limit: self.limit }
    }
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
    let failed = |error: &io::Error| {
        let reason = format!("Error reading file: {}", with_advice(error));
        ToolOutput::error("Failed to read file", &reason)
    };
    let resolved = match context.workspace.reach(path, &context.access) {
        Ok(resolved) => resolved,
        Err(error) => return failed(&error),
    };
    let bytes = match context.read(&resolved, cancel) {
        Ok((bytes, _)) => bytes,
        Err(error) => return failed(&error),
    };
    let file = File { path, bytes: &bytes };
    let output = match Kind::of(&bytes) {
        Kind::Text(text) => file.text(&text, arguments),
        Kind::Image(media_type) => file.image(media_type, arguments),
        Kind::Pdf => file.pdf(arguments, context, cancel),
        Kind::Binary(kind) => file.refused(&format!(
            "it is a binary file ({kind}, {}). To look into it, use Execute with programs such as `file`, `strings` or `xxd -l 256`",
            file.size()
        )),
    };
    if !output.is_error {
        context.seen.add(resolved.path, &bytes);
    }
    output
}

/// A file that was read.
struct File<'a> {
    path: &'a Path,
    bytes: &'a [u8],
}

impl File<'_> {
    fn text(&self, text: &str, arguments: &Arguments) -> ToolOutput {
        let lf = text.contains('\r').then(|| text.replace("\r\n", "\n"));
        let text = lf.as_deref().unwrap_or(text);
        let is_notebook = self.path.extension().is_some_and(|ending| ending == "ipynb");
        match is_notebook.then(|| Notebook::parse(text)).flatten() {
            Some(notebook) => text::output(&notebook.text_with_outputs(), arguments.wanted(), Some(NOTEBOOK)),
            None => text::output(text, arguments.wanted(), None),
        }
    }

    /// Returns an image unchanged: scaling it down would need a decoder for every format, on untrusted bytes.
    fn image(&self, media_type: &str, arguments: &Arguments) -> ToolOutput {
        if self.bytes.len() as u64 > MAX_IMAGE_BYTES {
            return self.refused(&format!(
                "the image has {}, and the maximum is {} MB. Make a smaller copy with Execute and read that",
                self.size(),
                MAX_IMAGE_BYTES >> 20
            ));
        }
        let quality = arguments.image_quality.as_deref().unwrap_or("default");
        let about =
            format!("Image file: {} (original size: {}). Image quality: {quality}", self.name(), self.size());
        let image = Part::Image { media_type: media_type.to_owned(), data: STANDARD.encode(self.bytes) };
        let mut output = ToolOutput::text(about);
        output.for_client.push(image.clone());
        output.for_model.push(image);
        output
    }

    /// Returns a PDF as a document if the model reads documents and the file is short, else its text.
    fn pdf(&self, arguments: &Arguments, context: &Context, cancel: &CancellationToken) -> ToolOutput {
        let wants_lines = arguments.offset.is_some() || arguments.limit.is_some();
        let is_document = context.accepts_documents && !wants_lines && self.bytes.len() <= MAX_DOCUMENT_BYTES;
        let read = |with_text| pdf::read(self.bytes.to_vec(), with_text, cancel);
        // an invalid file would be rejected by the vendor, in every later request too
        let counted = if is_document { read(false).map(|content| content.pages) } else { Ok(usize::MAX) };
        match counted {
            Ok(pages) if pages <= MAX_DOCUMENT_PAGES => return self.document(pages),
            Ok(_) => {}
            Err(reason) => return self.unreadable_pdf(&reason),
        }
        match read(true) {
            Err(reason) => self.unreadable_pdf(&reason),
            Ok(content) if content.text.is_empty() => self.refused(&format!(
                "the PDF has {} pages and no text in them, so it was probably scanned. To see a page, convert it to an image with Execute, for \
                 example `pdftoppm -png -r 80 -f 1 -l 1`, and read the image",
                content.pages
            )),
            Ok(content) => {
                let about = format!("This is the text of a PDF with {} pages, without images and layout.", content.pages);
                text::output(&content.text, arguments.wanted(), Some(&about))
            }
        }
    }

    fn document(&self, pages: usize) -> ToolOutput {
        let plural = if pages == 1 { "" } else { "s" };
        let mut output =
            ToolOutput::text(format!("PDF file: {} ({pages} page{plural}, {})", self.name(), self.size()));
        let name = Some(self.name());
        let media =
            Media { media_type: "application/pdf".to_owned(), data: STANDARD.encode(self.bytes), name };
        output.for_model.push(Part::Document(media));
        output
    }

    fn unreadable_pdf(&self, reason: &str) -> ToolOutput {
        self.refused(&format!(
            "the PDF cannot be read: {reason}. Try `pdftotext` or `qpdf --check` with Execute"
        ))
    }

    /// Returns why the content is not shown.
    fn refused(&self, reason: &str) -> ToolOutput {
        let text = format!("Cannot show `{}`: {reason}.", self.path.display());
        ToolOutput::error(&text, &text)
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn size(&self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "only one digit is displayed")]
        let kilobytes = self.bytes.len() as f64 / 1024.0;
        format!("{kilobytes:.1} KB")
    }
}

const NOTEBOOK: &str = "This is a notebook, shown as cells with their outputs. To change it, call Edit with text of the cells as shown here, \
                        without the outputs. A cell without a number is a new one: `<cell type=\"code\">`.";
