//! What a tool is: a fixed description, and a run that always ends in an output. Consent is not asked here: who calls has it.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{Context, ToolInfo};

/// The arguments of a call.
pub type Input = Map<String, Value>;

/// A run under way. Dropping it ends the run; processes it started are ended in the background.
pub type Run<'a> = Pin<Box<dyn Future<Output = ToolOutput> + Send + 'a>>;

/// Something the model can call.
pub trait Tool: fmt::Debug + Send + Sync {
    /// Its row in the catalogue.
    fn info(&self) -> &'static ToolInfo;

    /// What it does and when to use it, for the model.
    fn description(&self) -> &'static str;

    /// The JSON schema of its arguments.
    fn schema(&self) -> Value;

    /// The paths a call would touch, so that consent can be asked for before it runs. Relative ones are the workspace's.
    fn paths(&self, input: &Input) -> Vec<PathBuf> {
        let _ = input;
        Vec::new()
    }

    /// Runs it. Whatever goes wrong is an output with `is_error`, for the model to read.
    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a>;
}

/// What came of a call: two texts, a short one for people and a full one for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What a client is shown.
    pub for_wire: Vec<Part>,
    /// What the model reads.
    pub for_model: Vec<Part>,
    /// Whether it failed.
    pub is_error: bool,
    /// The files that were changed.
    pub changed: Vec<PathBuf>,
}

/// A part of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture.
    Image {
        /// The media type, such as `image/png`.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
}

impl ToolOutput {
    /// The same text for both.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::two(text.clone(), text)
    }

    /// A short text for people, a full one for the model.
    pub fn two(for_wire: impl Into<String>, for_model: impl Into<String>) -> Self {
        Self {
            for_wire: vec![Part::Text(for_wire.into())],
            for_model: vec![Part::Text(for_model.into())],
            is_error: false,
            changed: Vec::new(),
        }
    }

    /// A failure: `Error: ` and the short text for people, `Error: ` and the reason for the model.
    pub fn error(for_wire: &str, reason: &str) -> Self {
        Self { is_error: true, ..Self::two(format!("Error: {for_wire}"), format!("Error: {reason}")) }
    }

    /// The user does not want it any more.
    pub fn cancelled() -> Self {
        Self::error("Tool execution cancelled by user", "Tool execution cancelled by user")
    }

    /// The text for people, without pictures.
    pub fn wire_text(&self) -> String {
        joined(&self.for_wire)
    }

    /// The text for the model, without pictures.
    pub fn model_text(&self) -> String {
        joined(&self.for_model)
    }
}

fn joined(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Image { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
