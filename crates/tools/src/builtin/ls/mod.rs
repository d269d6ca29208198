//! LS: lists a directory in the format of the `ls` program. Times are UTC.

mod entry;
mod spec;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::on_thread;
use crate::advice::with_advice;
use crate::limits::MAX_LS_ENTRIES;
use crate::long_result::List;
use crate::{Action, Context, FileKind, Input, Run, Tool, ToolInfo, ToolOutput, input};
use entry::Entry;

/// Lists a folder.
#[derive(Debug, Clone, Copy)]
pub struct Ls;

#[derive(Deserialize)]
struct Arguments {
    directory_path: Option<String>,
    #[serde(rename = "ignorePatterns", default)]
    ignore: Option<input::OneOrMany>,
}

impl Tool for Ls {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::List { path: input::path_or_workspace(input, "directory_path") })
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        let context = context.clone();
        Box::pin(async move {
            match input::parse::<Arguments>(input) {
                Ok(arguments) => on_thread(cancel, move |_| run(arguments, &context)).await,
                Err(output) => output,
            }
        })
    }
}

fn run(arguments: Arguments, context: &Context) -> ToolOutput {
    let path = arguments.directory_path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".").to_owned();
    let ignored = patterns(arguments.ignore.unwrap_or_default().into_vec());
    match ignored.and_then(|ignored| list(Path::new(&path), &ignored, context)) {
        Ok(list) => list.output(&context.scratch),
        Err(error) => ToolOutput::error(
            "Failed to list directory",
            &format!("LS tool call failed: cannot list `{path}`: {}", with_advice(&error)),
        ),
    }
}

fn patterns(patterns: Vec<String>) -> io::Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern.trim_end_matches('/')).map_err(io::Error::other)?);
    }
    set.build().map_err(io::Error::other)
}

fn list(path: &Path, ignored: &GlobSet, context: &Context) -> io::Result<List> {
    let resolved = context.workspace.reach(path, &context.access)?;
    match resolved.kind {
        FileKind::Folder => {}
        FileKind::Missing => {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "no such file or directory. Use Glob to find the path.",
            ));
        }
        FileKind::File | FileKind::Special => {
            return Ok(listing(
                &entry::table(&[Entry::look_at(&resolved.path, &path.to_string_lossy())?]),
                1,
                1,
            ));
        }
    }
    let mut names = Vec::new();
    for entry in fs_err::read_dir(&resolved.path)? {
        let name = entry?.file_name();
        if !ignored.is_match(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Ok(listing("Empty directory", 0, 0));
    }
    names.sort_unstable();
    let total = names.len();
    names.truncate(MAX_LS_ENTRIES);
    let mut entries =
        vec![Entry::look_at(&resolved.path, ".")?, Entry::look_at(&resolved.path.join(".."), "..")?];
    for name in &names {
        // an entry that was removed in the meantime is skipped
        if let Ok(entry) = Entry::look_at(&resolved.path.join(name), &name.to_string_lossy()) {
            entries.push(entry);
        }
    }
    let blocks: u64 = entries.iter().map(|entry| entry.blocks).sum();
    Ok(listing(&format!("total {}\n{}", blocks / 2, entry::table(&entries)), names.len(), total))
}

fn listing(text: &str, shown: usize, total: usize) -> List {
    let total = if shown < total { format!("more than {shown} entries") } else { format!("{total} entries") };
    let hint = "For a shorter list, use `ignorePatterns`, or find files by name with Glob.";
    List { lines: text.lines().map(str::to_owned).collect(), max_lines: usize::MAX, total, hint }
}
