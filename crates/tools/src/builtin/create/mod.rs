//! Create: writes a new file or replaces a whole file.

mod spec;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::on_thread;
use crate::text::Source;
use crate::{Action, Context, FileKind, Input, Run, Tool, ToolInfo, ToolOutput, input};

/// Writes a file.
#[derive(Debug, Clone, Copy)]
pub struct Create;

#[derive(Deserialize)]
struct Arguments {
    file_path: String,
    content: String,
}

/// The result for clients. The order of the fields is part of droid's format.
#[derive(Serialize)]
struct Created<'a> {
    success: bool,
    file_path: &'a str,
}

impl Tool for Create {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        let content = input::text(input, "content").unwrap_or_default();
        Ok(Action::Create { path: input::required(input, "file_path")?, content })
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        let context = context.clone();
        Box::pin(async move {
            match input::parse::<Arguments>(input) {
                Ok(arguments) => on_thread(cancel, move |cancel| create(&arguments, &context, cancel)).await,
                Err(output) => output,
            }
        })
    }
}

fn create(arguments: &Arguments, context: &Context, cancel: &CancellationToken) -> ToolOutput {
    let path = &arguments.file_path;
    let failed = |reason: &str| {
        let text = format!("Error: Cannot create file at \"{path}\" because {reason}");
        ToolOutput::error(&text, &text)
    };
    if path.is_empty() {
        return failed("the path is empty");
    }
    let resolved = match context.workspace.reach(path, &context.access) {
        Ok(resolved) => resolved,
        Err(error) => return failed(&error.to_string()),
    };
    if resolved.kind == FileKind::Folder {
        return failed("it is a directory");
    }
    if let Err(error) = context.write(&resolved, &arguments.content, Source::New, cancel) {
        return failed(&error.to_string());
    }
    context.seen.add(&resolved.path);
    let shown = context.workspace.root().join(path);
    let shown = shown.to_string_lossy();
    let for_client = serde_json::to_string(&Created { success: true, file_path: &shown }).unwrap_or_default();
    let mut output = ToolOutput::two(for_client, format!("File created successfully: {shown}"));
    output.changed.push(resolved.path);
    output
}
