//! The `Tool` trait: fixed facts, an action for the permission rules, and a run that always ends in an output.
//!
//! A tool does not ask for permission. The caller has it before it runs the tool.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;

use musher_message::Part;
use musher_permission::Action;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{Context, ToolInfo};

/// The arguments of a call.
pub type Input = Map<String, Value>;

/// A run under way. Dropping it ends the run; processes it started are ended in the background.
pub type Run<'a> = Pin<Box<dyn Future<Output = ToolOutput> + Send + 'a>>;

/// Something the model can call.
///
/// A tool is one folder: its facts, what a call does for the permission rules, and how it runs. Adding it to a [`Registry`] lists it,
/// offers it, and lets it run.
///
/// [`Registry`]: crate::Registry
pub trait Tool: fmt::Debug + Send + Sync {
    /// Returns its fixed facts.
    fn info(&self) -> &ToolInfo;

    /// Returns what a call with these arguments does, for the permission rules; or why the arguments are invalid.
    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String>;

    /// Runs a call that may run. Failures are outputs with `is_error`, for the model to read.
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
