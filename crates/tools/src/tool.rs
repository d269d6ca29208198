//! The `Tool` trait: a static description, an action for the permission rules, and a run that always ends with an output.
//!
//! A tool does not check permissions. The caller does so before it runs the tool.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;

use musher_message::Part;
use musher_permission::Action;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{Context, SandboxDenial, ToolInfo};

/// The arguments of a call.
pub type Input = Map<String, Value>;

/// A running call. Dropping it ends the call; processes that it started are ended in the background.
pub type Run<'a> = Pin<Box<dyn Future<Output = ToolOutput> + Send + 'a>>;

/// A tool that the model can call.
///
/// A tool is one directory: its description, what a call does for the permission rules, and how it runs. Adding it to a [`Registry`] lists
/// it, offers it to the model, and lets it run.
///
/// [`Registry`]: crate::Registry
pub trait Tool: fmt::Debug + Send + Sync {
    /// Returns the static description.
    fn info(&self) -> &ToolInfo;

    /// Returns what a call with these arguments does, for the permission rules. The error says why the arguments are invalid.
    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String>;

    /// Finds what a call would change, without changing anything. The error is the output of a call that cannot work.
    ///
    /// Blocks: not for a task. Tools that change no files return nothing.
    fn dry_run(
        &self,
        input: &Input,
        context: &Context,
        cancel: &CancellationToken,
    ) -> Result<Vec<FileChange>, ToolOutput> {
        let _ = (input, context, cancel);
        Ok(Vec::new())
    }

    /// Runs a permitted call. Failures are outputs with `is_error`, for the model to read.
    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a>;
}

/// A file before and after a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileChange {
    /// The resolved path.
    pub path: PathBuf,
    /// The text before the call; `None` if there is no file, or no text in it.
    pub old: Option<String>,
    /// The text after the call; `None` if the file is removed.
    pub new: Option<String>,
}

/// The output of a call: a short text for the client and a full text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The content for the client.
    pub for_client: Vec<Part>,
    /// The content for the model.
    pub for_model: Vec<Part>,
    /// Whether the call failed.
    pub is_error: bool,
    /// The files that were changed.
    pub changed: Vec<PathBuf>,
    /// What the sandbox denied, if that is the likely reason why the call failed.
    pub sandbox_denial: Option<SandboxDenial>,
}

impl ToolOutput {
    /// Creates an output with the same text for client and model.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::two(text.clone(), text)
    }

    /// Creates an output with a short text for the client and a full text for the model.
    pub fn two(for_client: impl Into<String>, for_model: impl Into<String>) -> Self {
        Self {
            for_client: vec![Part::Text(for_client.into())],
            for_model: vec![Part::Text(for_model.into())],
            is_error: false,
            changed: Vec::new(),
            sandbox_denial: None,
        }
    }

    /// Creates a failure: `Error: ` and the short text for the client, `Error: ` and the reason for the model.
    pub fn error(for_client: &str, reason: &str) -> Self {
        Self { is_error: true, ..Self::two(format!("Error: {for_client}"), format!("Error: {reason}")) }
    }

    /// Returns the output of a call that the user cancelled.
    pub fn cancelled() -> Self {
        Self::error("Tool execution cancelled by user", "Tool execution cancelled by user")
    }

    /// Returns the text for the client, without images.
    pub fn client_text(&self) -> String {
        joined(&self.for_client)
    }

    /// Returns the text for the model, without images.
    pub fn model_text(&self) -> String {
        joined(&self.for_model)
    }
}

/// Returns the first line of a reason, for users: the rest is for the model.
pub(crate) fn first_line(reason: &str) -> &str {
    reason.lines().next().unwrap_or_default().trim_end_matches(':')
}

fn joined(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Image { .. } | Part::Document(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
