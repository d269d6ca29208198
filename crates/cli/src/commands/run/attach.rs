//! The attachments of a prompt: images, files, and the schema of the answer. All is read before an agent is started.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use musher::{Document, Image, Prompt};
use serde_json::Value;

use crate::args::Run;
use crate::exit::Failure;
use crate::prompt;

/// Maximum size of an attached file, in bytes.
const MAX_FILE_SIZE: u64 = 32 * 1024 * 1024;

/// The attachments of a prompt.
#[derive(Debug)]
pub(super) struct Attached {
    images: Vec<Image>,
    documents: Vec<Document>,
    schema: Option<Value>,
}

/// Stdin can be the prompt or a file, but not both.
pub(super) fn check_stdin(args: &Run) -> Result<(), Failure> {
    let from_stdin = args.attachments.iter().filter(|file| is_stdin(file)).count();
    let prompt_from_stdin = args.file.is_none() && matches!(args.prompt.join(" ").as_str(), "" | "-");
    if from_stdin + usize::from(prompt_from_stdin) > 1 {
        let failure = Failure::setup(anyhow!("cannot read both the prompt and an attachment from stdin"));
        return Err(failure.hint("pass the prompt as an argument or with `--file`"));
    }
    Ok(())
}

/// Reads all files that the arguments name.
pub(super) fn read(args: &Run) -> Result<Attached, Failure> {
    Ok(Attached {
        images: args.images.iter().map(|file| image(file)).collect::<Result<_, _>>()?,
        documents: args.attachments.iter().map(|file| document(file)).collect::<Result<_, _>>()?,
        schema: args.schema.as_deref().map(schema).transpose()?,
    })
}

impl Attached {
    /// Returns the prompt with all of it.
    pub(super) fn with(self, prompt: Prompt) -> Prompt {
        let prompt = self.images.into_iter().fold(prompt, Prompt::image);
        let prompt = self.documents.into_iter().fold(prompt, Prompt::document);
        match self.schema {
            Some(schema) => prompt.output_schema(schema),
            None => prompt,
        }
    }
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

fn image(file: &Path) -> Result<Image, Failure> {
    let read =
        Image::bytes(&bytes(file)?).with_context(|| format!("cannot attach the image `{}`", file.display()));
    read.map_err(Failure::setup)
}

fn document(file: &Path) -> Result<Document, Failure> {
    if is_stdin(file) {
        return Ok(Document::text("stdin", prompt::stdin()?));
    }
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    let bytes = bytes(file)?;
    if bytes.starts_with(b"%PDF-") {
        return Document::pdf(name, &bytes).map_err(Failure::setup);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Document::text(name, text)),
        Err(_binary) => {
            let failure =
                Failure::setup(anyhow!("cannot attach `{}`: neither UTF-8 text nor a PDF", file.display()));
            Err(failure.hint("use `--image` for images"))
        }
    }
}

fn schema(file: &Path) -> Result<Value, Failure> {
    let read = serde_json::from_slice(&bytes(file)?);
    read.with_context(|| format!("invalid JSON in `{}`", file.display())).map_err(Failure::setup)
}

fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    let cannot = || format!("cannot read `{}`", file.display());
    let size = file.metadata().with_context(cannot).map_err(Failure::setup)?;
    if !size.is_file() {
        return Err(Failure::setup(anyhow!("cannot read `{}`: not a file", file.display())));
    }
    if size.len() > MAX_FILE_SIZE {
        let most = MAX_FILE_SIZE / 1024 / 1024;
        return Err(Failure::setup(anyhow!("cannot attach `{}`: larger than {most} MiB", file.display())));
    }
    fs_err::read(file).map_err(Failure::setup)
}
