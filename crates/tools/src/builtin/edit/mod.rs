//! Edit: replaces a text in a file with another. Line endings of the file are kept.

pub(super) mod diff;
mod spec;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::on_thread;
use crate::{Action, Context, Input, Run, Tool, ToolInfo, ToolOutput, input};

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

fn run(arguments: &Arguments, context: &Context, cancel: &CancellationToken) -> ToolOutput {
    edit(arguments, context, cancel)
        .unwrap_or_else(|reason| ToolOutput::error("Failed to edit file", &reason))
}

fn edit(arguments: &Arguments, context: &Context, cancel: &CancellationToken) -> Result<ToolOutput, String> {
    let shown = context.workspace.root().join(&arguments.file_path);
    let shown = shown.to_string_lossy();
    let resolved =
        context.workspace.reach(&arguments.file_path, &context.access).map_err(|error| error.to_string())?;
    let (bytes, source) = context.read(&resolved, cancel).map_err(|error| error.to_string())?;
    if !context.seen.contains(&resolved.path) {
        return Err(format!(
            "`{shown}` has not been read in this session. Call Read on it first, then call Edit again."
        ));
    }
    let old = String::from_utf8(bytes)
        .map_err(|_bad| format!("`{shown}` is not UTF-8 text, so Edit cannot change it"))?;
    let new = replaced(&old, arguments).map_err(|reason| format!("{reason} in `{shown}`"))?;
    context.write(&resolved, &new, source, cancel).map_err(|error| error.to_string())?;
    let for_client = diff::report(&shown, &old, &new);
    let mut output = ToolOutput::two(for_client, format!("File updated successfully: {shown}"));
    output.changed.push(resolved.path);
    Ok(output)
}

fn replaced(content: &str, arguments: &Arguments) -> Result<String, String> {
    let Arguments { old_str, new_str, .. } = arguments;
    if old_str.is_empty() {
        return Err("`old_str` is empty. Give the text to replace, or use Create to replace the whole file. Nothing was changed".to_owned());
    }
    if old_str == new_str {
        return Err("`old_str` and `new_str` are equal. Nothing was changed".to_owned());
    }
    if content.contains(old_str.as_str()) {
        return replace(content, old_str, new_str, arguments);
    }
    // the model sees every line ending as LF, also in files with CRLF
    let as_in_file = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    let old_crlf = as_in_file(old_str);
    if content.contains(&old_crlf) {
        return replace(content, &old_crlf, &as_in_file(new_str), arguments);
    }
    Err("`old_str` was not found. Call Read to see the current text, then copy it exactly. Nothing was changed".to_owned())
}

fn replace(content: &str, old: &str, new: &str, arguments: &Arguments) -> Result<String, String> {
    // a file with CRLF keeps CRLF, also if the replaced text is within a line
    let is_crlf = content.contains("\r\n") && !content.replace("\r\n", "").contains('\n');
    let new = if is_crlf { new.replace("\r\n", "\n").replace('\n', "\r\n") } else { new.to_owned() };
    match content.matches(old).count() {
        1 => Ok(content.replacen(old, &new, 1)),
        _ if arguments.change_all.unwrap_or(false) => Ok(content.replace(old, &new)),
        count => Err(format!(
            "`old_str` occurs {count} times, but `change_all` is false. Add surrounding lines to `old_str` until it is unique, or set \
       `change_all` to true. Nothing was changed"
        )),
    }
}
