//! Create: writes a new file or replaces a whole file.

mod spec;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::edit::changed_since;
use super::on_thread;
use crate::advice::with_advice;
use crate::text::Source;
use crate::{Action, Context, FileChange, FileKind, Input, Resolved, Run, Tool, ToolInfo, ToolOutput, input};

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

    fn dry_run(
        &self,
        input: &Input,
        context: &Context,
        cancel: &CancellationToken,
    ) -> Result<Vec<FileChange>, ToolOutput> {
        let arguments = input::parse::<Arguments>(input.clone())?;
        let (resolved, old) = plan(&arguments, context, cancel)?;
        let old = old.and_then(|old| String::from_utf8(old).ok());
        Ok(vec![FileChange { path: resolved.path, old, new: Some(arguments.content) }])
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

fn failed(path: &str, reason: &str) -> ToolOutput {
    let text = format!("Error: Cannot create file at \"{path}\" because {reason}");
    ToolOutput::error(&text, &text)
}

/// Returns the file that a call writes, and its content before.
fn plan(
    arguments: &Arguments,
    context: &Context,
    cancel: &CancellationToken,
) -> Result<(Resolved, Option<Vec<u8>>), ToolOutput> {
    let path = &arguments.file_path;
    if path.is_empty() {
        return Err(failed(path, "the path is empty. Call Create again with an absolute path."));
    }
    let resolved = context.workspace.reach(path, &context.access);
    let resolved = resolved.map_err(|error| failed(path, &with_advice(&error)))?;
    match resolved.kind {
        FileKind::Folder => {
            Err(failed(path, "it is a directory. Call Create again with the path of a file."))
        }
        // what cannot be read can still be replaced
        FileKind::File => {
            let old = context.read(&resolved, cancel).ok().map(|(old, _)| old);
            match &old {
                Some(old) if context.seen.is_outdated(&resolved.path, old) => {
                    Err(failed(path, &changed_since(path, "Create")))
                }
                _ => Ok((resolved, old)),
            }
        }
        _ => Ok((resolved, None)),
    }
}

fn create(arguments: &Arguments, context: &Context, cancel: &CancellationToken) -> ToolOutput {
    let path = &arguments.file_path;
    let resolved = match plan(arguments, context, cancel) {
        Ok((resolved, _)) => resolved,
        Err(output) => return output,
    };
    if let Err(error) = context.write(&resolved, &arguments.content, Source::New, cancel) {
        return failed(path, &with_advice(&error));
    }
    context.seen.add(&resolved.path, arguments.content.as_bytes());
    let shown = context.workspace.root().join(path);
    let shown = shown.to_string_lossy();
    let for_client = serde_json::to_string(&Created { success: true, file_path: &shown }).unwrap_or_default();
    let mut output = ToolOutput::two(for_client, format!("File created successfully: {shown}"));
    output.changed.push(resolved.path);
    output
}
