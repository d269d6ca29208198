//! Edit: replaces a text in a file with another. Line endings of the file are kept.

pub(super) mod diff;
pub(super) mod near;
mod spec;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::on_thread;
use crate::advice::with_advice;
use crate::notebook::Notebook;
use crate::text::Source;
use crate::tool::first_line;
use crate::{Action, Context, FileChange, Input, Resolved, Run, Tool, ToolInfo, ToolOutput, input};

/// Changes part of a file.
#[derive(Debug, Clone, Copy)]
pub struct Edit;

#[derive(Deserialize)]
struct Arguments {
    file_path: String,
    old_str: String,
    new_str: String,
    #[serde(default)]
    change_all: Option<bool>,
}

impl Tool for Edit {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::Edit { path: input::required(input, "file_path")? })
    }

    fn dry_run(
        &self,
        input: &Input,
        context: &Context,
        cancel: &CancellationToken,
    ) -> Result<Vec<FileChange>, ToolOutput> {
        let arguments = input::parse::<Arguments>(input.clone())?;
        let plan = plan(&arguments, context, cancel).map_err(|reason| failed(&reason))?;
        Ok(vec![FileChange { path: plan.resolved.path, old: Some(plan.old), new: Some(plan.new) }])
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        let context = context.clone();
        Box::pin(async move {
            match input::parse::<Arguments>(input) {
                Ok(arguments) => on_thread(cancel, move |cancel| run(&arguments, &context, cancel)).await,
                Err(output) => output,
            }
        })
    }
}

fn failed(reason: &str) -> ToolOutput {
    ToolOutput::error(&format!("Failed to edit file: {}", first_line(reason)), reason)
}

fn run(arguments: &Arguments, context: &Context, cancel: &CancellationToken) -> ToolOutput {
    edit(arguments, context, cancel).unwrap_or_else(|reason| failed(&reason))
}

fn edit(arguments: &Arguments, context: &Context, cancel: &CancellationToken) -> Result<ToolOutput, String> {
    let Plan { resolved, source, shown, old, new } = plan(arguments, context, cancel)?;
    context.write(&resolved, &new, source, cancel).map_err(|error| with_advice(&error))?;
    context.seen.add(&resolved.path, new.as_bytes());
    let for_client = diff::report(&shown, &old, &new);
    let mut output = ToolOutput::two(for_client, format!("File updated successfully: {shown}"));
    output.changed.push(resolved.path);
    Ok(output)
}

/// What a call would do.
struct Plan {
    resolved: Resolved,
    source: Source,
    /// The path for users and models.
    shown: String,
    old: String,
    new: String,
}

fn plan(arguments: &Arguments, context: &Context, cancel: &CancellationToken) -> Result<Plan, String> {
    let shown = context.workspace.root().join(&arguments.file_path).to_string_lossy().into_owned();
    let resolved = context
        .workspace
        .reach(&arguments.file_path, &context.access)
        .map_err(|error| with_advice(&error))?;
    let (bytes, source) = context.read(&resolved, cancel).map_err(|error| with_advice(&error))?;
    let is_outdated = context.seen.is_outdated(&resolved.path, &bytes);
    let old = String::from_utf8(bytes).map_err(|_bad| {
        format!("`{shown}` is not UTF-8 text, so Edit cannot change it. Use Execute with a program that can.")
    })?;
    if is_outdated {
        return Err(changed_since(&shown, "Edit"));
    }
    let is_notebook = resolved.path.extension().is_some_and(|ending| ending == "ipynb");
    let notebook = is_notebook.then(|| Notebook::parse(&old)).flatten();
    let new = match notebook {
        Some(notebook) => edit_notebook(&notebook, &old, arguments, &shown)?,
        None => replaced(&old, arguments, &shown)?,
    };
    Ok(Plan { resolved, source, shown, old, new })
}

/// Returns the reason why a file is not changed that has changed since the model saw it.
pub(super) fn changed_since(shown: &str, tool: &str) -> String {
    format!(
        "`{shown}` has changed on disk since you last saw it. Nothing was changed. Call Read on it, then call {tool} again."
    )
}

/// Edits the cells as the model sees them; else the text of the file, if the result is a notebook.
fn edit_notebook(
    notebook: &Notebook,
    old: &str,
    arguments: &Arguments,
    shown: &str,
) -> Result<String, String> {
    let cells = notebook.text();
    if !cells.contains(&arguments.old_str) && old.contains(&arguments.old_str) {
        let new = replaced(old, arguments, shown)?;
        let is_valid = Notebook::parse(&new).is_some();
        return is_valid.then_some(new).ok_or_else(|| {
            format!("`{shown}` would not be a valid notebook. Nothing was changed. Call Read to see its cells, and edit their text.")
        });
    }
    notebook
        .with_text(&replaced(&cells, arguments, shown)?)
        .map_err(|reason| format!("cannot edit the cells of `{shown}`: {reason}. Nothing was changed. Call Read to see the cells, then call Edit again."))
}

fn replaced(content: &str, arguments: &Arguments, shown: &str) -> Result<String, String> {
    let Arguments { old_str, new_str, .. } = arguments;
    if old_str.is_empty() {
        return Err(format!(
            "`old_str` is empty in the edit of `{shown}`. Nothing was changed. Give the text to replace, or use Create to replace the whole file."
        ));
    }
    if old_str == new_str {
        return Err(format!(
            "`old_str` and `new_str` are equal in the edit of `{shown}`. Nothing was changed. Call Edit again with different texts, or continue if no change is needed."
        ));
    }
    if content.contains(old_str.as_str()) {
        return replace(content, old_str, new_str, arguments, shown);
    }
    // the model sees every line ending as LF, also in files with CRLF
    let as_in_file = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    let old_crlf = as_in_file(old_str);
    if content.contains(&old_crlf) {
        return replace(content, &old_crlf, &as_in_file(new_str), arguments, shown);
    }
    let next = match near::closest(content, old_str) {
        Some(closest) => closest.to_string(),
        None => "Call Read to see the current text, then copy it exactly.".to_owned(),
    };
    Err(format!("`old_str` was not found in `{shown}`. Nothing was changed. {next}"))
}

/// The number of lines that are named if a text occurs several times.
const MAX_NAMED_LINES: usize = 10;

fn replace(
    content: &str,
    old: &str,
    new: &str,
    arguments: &Arguments,
    shown: &str,
) -> Result<String, String> {
    // a file with CRLF keeps CRLF, also if the replaced text is within a line
    let is_crlf = content.contains("\r\n") && !content.replace("\r\n", "").contains('\n');
    let new = if is_crlf { new.replace("\r\n", "\n").replace('\n', "\r\n") } else { new.to_owned() };
    let count = content.matches(old).count();
    if count > 1 && !arguments.change_all.unwrap_or(false) {
        let line = |at: usize| content[..at].matches('\n').count() + 1;
        let lines = content.match_indices(old).take(MAX_NAMED_LINES).map(|(at, _)| line(at).to_string());
        let more = if count > MAX_NAMED_LINES { ", ..." } else { "" };
        return Err(format!(
            "`old_str` occurs {count} times, but `change_all` is false, in `{shown}` (lines {}{more}). Nothing was changed. Add surrounding \
             lines to `old_str` until it is unique, or set `change_all` to true.",
            lines.collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(content.replace(old, &new))
}
