//! Glob: finds files whose names match a pattern. Ignore files have no effect.

mod spec;
#[cfg(test)]
mod tests;

use std::path::Path;

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::on_thread;
use crate::advice::with_advice;
use crate::input::OneOrMany;
use crate::limits::MAX_GLOB_FILES;
use crate::long_result::List;
use crate::{Action, Context, FileKind, Input, Run, Tool, ToolInfo, ToolOutput, input};

/// Finds files by name.
#[derive(Debug, Clone, Copy)]
pub struct Glob;

#[derive(Deserialize)]
struct Arguments {
    patterns: OneOrMany,
    #[serde(rename = "excludePatterns", default)]
    exclude: Option<OneOrMany>,
    folder: Option<String>,
}

impl Tool for Glob {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::List { path: input::path_or_workspace(input, "folder") })
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        let context = context.clone();
        Box::pin(async move {
            match input::parse::<Arguments>(input) {
                Ok(arguments) => on_thread(cancel, move |cancel| find(arguments, &context, cancel)).await,
                Err(output) => output,
            }
        })
    }
}

fn find(arguments: Arguments, context: &Context, cancel: &CancellationToken) -> ToolOutput {
    let folder = arguments.folder.as_deref().filter(|folder| !folder.is_empty()).unwrap_or(".");
    let resolved = match context.workspace.reach(folder, &context.access) {
        Ok(resolved) if resolved.kind == FileKind::Folder => resolved,
        Ok(_) => {
            let reason = format!("The specified directory '{folder}' does not exist");
            return ToolOutput::error(
                &reason,
                &format!("{reason}, or is not a directory. Use LS to see what exists."),
            );
        }
        Err(error) => {
            let reason = format!("The specified directory '{folder}' does not exist");
            return ToolOutput::error(&reason, &format!("cannot search '{folder}': {}", with_advice(&error)));
        }
    };
    match matching(&resolved.path, arguments, cancel) {
        Err(error) => ToolOutput::error(
            "Failed to search files",
            &format!("Invalid pattern: {error}. Correct the glob pattern and try again."),
        ),
        Ok((files, _)) if files.is_empty() => ToolOutput::text("No matching files found"),
        Ok((files, is_cut)) => {
            let more = if is_cut { "more than " } else { "" };
            let total = format!("{more}{} files", files.len());
            let hint = "For a shorter list, use a narrower pattern, `folder` or `excludePatterns`.";
            List { lines: files, max_lines: usize::MAX, total, hint }.output(&context.scratch)
        }
    }
}

fn matching(
    root: &Path,
    arguments: Arguments,
    cancel: &CancellationToken,
) -> Result<(Vec<String>, bool), ignore::Error> {
    let mut overrides = OverrideBuilder::new(root);
    for pattern in arguments.patterns.into_vec() {
        // a leading `!` would exclude instead of include
        overrides.add(pattern.trim_start_matches('!'))?;
    }
    for pattern in arguments.exclude.unwrap_or_default().into_vec() {
        overrides.add(&format!("!{}", pattern.trim_start_matches('!')))?;
    }
    let walk = WalkBuilder::new(root)
        .standard_filters(false)
        .overrides(overrides.build()?)
        .sort_by_file_name(Ord::cmp)
        .build();
    let mut files = Vec::new();
    for entry in walk {
        if cancel.is_cancelled() {
            break;
        }
        // entries that cannot be read are skipped, as the shell skips them
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            continue;
        }
        if files.len() == MAX_GLOB_FILES {
            return Ok((files, true));
        }
        if let Ok(below) = entry.path().strip_prefix(root) {
            files.push(format!("./{}", below.display()));
        }
    }
    Ok((files, false))
}
