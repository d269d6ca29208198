//! `ApplyPatch`: changes several files with one call. All new contents are computed before the first file is written.

mod apply;
mod parse;
mod spec;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::edit::{changed_since, diff};
use super::on_thread;
use crate::advice::with_advice;
use crate::text::Source;
use crate::tool::first_line;
use crate::{Action, Context, FileChange, FileKind, Input, Resolved, Run, Tool, ToolInfo, ToolOutput, input};
use parse::Change;

/// Applies a patch.
#[derive(Debug, Clone, Copy)]
pub struct ApplyPatch;

#[derive(Deserialize)]
struct Arguments {
    #[serde(alias = "patch")]
    input: String,
}

#[derive(Serialize)]
struct Report<'a> {
    success: bool,
    files: Vec<File<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(rename = "file_path")]
    path: &'a str,
    action: &'static str,
    lines_added: usize,
    lines_removed: usize,
}

impl Tool for ApplyPatch {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        let patch = input::text(input, "input").or_else(|| input::text(input, "patch")).unwrap_or_default();
        let changes = parse::parse(patch).unwrap_or_default();
        let paths = changes.into_iter().flat_map(|change| match change {
            Change::Add { path, .. } | Change::Delete { path } => vec![path],
            Change::Update { path, move_to, .. } => std::iter::once(path).chain(move_to).collect(),
        });
        Ok(Action::Patch { patch, paths: paths.map(PathBuf::from).collect() })
    }

    fn dry_run(
        &self,
        input: &Input,
        context: &Context,
        cancel: &CancellationToken,
    ) -> Result<Vec<FileChange>, ToolOutput> {
        let arguments = input::parse::<Arguments>(input.clone())?;
        let plan = Plan::of(&arguments.input, context, cancel).map_err(|reason| failed(&reason))?;
        let change =
            |step: Step| FileChange { path: step.resolved.path, old: Some(step.old), new: step.content };
        Ok(plan.steps.into_iter().map(change).collect())
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        let context = context.clone();
        Box::pin(async move {
            match input::parse::<Arguments>(input) {
                Ok(arguments) => {
                    on_thread(cancel, move |cancel| run(&arguments.input, &context, cancel)).await
                }
                Err(output) => output,
            }
        })
    }
}

fn run(text: &str, context: &Context, cancel: &CancellationToken) -> ToolOutput {
    patch(text, context, cancel).unwrap_or_else(|reason| failed(&reason))
}

fn failed(reason: &str) -> ToolOutput {
    ToolOutput::error(&format!("Failed to apply patch: {}", first_line(reason)), reason)
}

/// The computed changes.
#[derive(Default)]
struct Plan {
    steps: Vec<Step>,
    /// The new contents, so that a second change of a file builds on the first.
    contents: HashMap<PathBuf, Option<String>>,
    /// Where the text of each changed file was read from.
    sources: HashMap<PathBuf, Source>,
}

struct Step {
    shown: String,
    action: &'static str,
    resolved: Resolved,
    source: Source,
    /// The content before; empty if there was no file.
    old: String,
    /// The new content; `None` to remove the file.
    content: Option<String>,
    counts: (usize, usize),
}

fn patch(text: &str, context: &Context, cancel: &CancellationToken) -> Result<ToolOutput, String> {
    let plan = Plan::of(text, context, cancel)?;
    let mut changed = Vec::new();
    for step in &plan.steps {
        let done = match &step.content {
            Some(content) => context.write(&step.resolved, content, step.source, cancel),
            None => step.resolved.remove(),
        };
        done.map_err(|error| {
            let before: Vec<String> =
                changed.iter().map(|path: &PathBuf| path.display().to_string()).collect();
            let before = if before.is_empty() {
                String::new()
            } else {
                format!(" (already changed: {})", before.join(", "))
            };
            format!("cannot write `{}`{before}: {}", step.shown, with_advice(&error))
        })?;
        if let Some(content) = &step.content {
            context.seen.add(&step.resolved.path, content.as_bytes());
        }
        changed.push(step.resolved.path.clone());
    }
    let file = |step: &'_ Step| (step.shown.clone(), step.action, step.counts);
    let told: Vec<_> = plan.steps.iter().map(file).collect();
    let files = told.iter().map(|(shown, action, (added, removed))| File {
        path: shown,
        action,
        lines_added: *added,
        lines_removed: *removed,
    });
    let for_client =
        serde_json::to_string(&Report { success: true, files: files.collect() }).unwrap_or_default();
    let list: Vec<String> = told.iter().map(|(shown, action, _)| format!("{action} {shown}")).collect();
    let mut output = ToolOutput::two(for_client, format!("Patch applied successfully:\n{}", list.join("\n")));
    output.changed = changed;
    Ok(output)
}

impl Plan {
    fn of(text: &str, context: &Context, cancel: &CancellationToken) -> Result<Self, String> {
        let changes = parse::parse(text)
            .map_err(|reason| format!("invalid patch: {reason}. Correct it and call ApplyPatch again."))?;
        let mut plan = Self::default();
        for change in &changes {
            plan.add(change, context, cancel)?;
        }
        Ok(plan)
    }

    fn add(&mut self, change: &Change, context: &Context, cancel: &CancellationToken) -> Result<(), String> {
        match change {
            Change::Add { path, content } => {
                let resolved = reach(path, context)?;
                if self.exists(&resolved) {
                    return Err(format!(
                        "cannot add `{path}`: it already exists. No file was changed. Use `*** Update File: ` instead."
                    ));
                }
                self.push(path, "added", resolved, "", Some(content.clone()));
            }
            Change::Delete { path } => {
                let resolved = reach(path, context)?;
                let old = self.content(path, &resolved, context, cancel)?;
                self.push(path, "deleted", resolved, &old, None);
            }
            Change::Update { path, move_to, hunks } => {
                let resolved = reach(path, context)?;
                let old = self.content(path, &resolved, context, cancel)?;
                let new = apply::apply(&old, hunks)
                    .map_err(|reason| format!("cannot update `{path}`: {reason}"))?;
                let Some(target) = move_to else {
                    self.push(path, "updated", resolved, &old, Some(new));
                    return Ok(());
                };
                let moved = reach(target, context)?;
                if self.exists(&moved) {
                    return Err(format!(
                        "cannot move `{path}` to `{target}`: the target already exists. No file was changed. Choose another path, or delete the target in the same patch first."
                    ));
                }
                self.push(target, "moved", moved, &old, Some(new));
                self.push(path, "deleted", resolved, "", None);
            }
        }
        Ok(())
    }

    fn push(
        &mut self,
        shown: &str,
        action: &'static str,
        resolved: Resolved,
        old: &str,
        content: Option<String>,
    ) {
        let counts = diff::counts(old, content.as_deref().unwrap_or_default());
        self.contents.insert(resolved.path.clone(), content.clone());
        let source = self.sources.get(&resolved.path).copied().unwrap_or(Source::New);
        let old = old.to_owned();
        self.steps.push(Step { shown: shown.to_owned(), action, resolved, source, old, content, counts });
    }

    fn exists(&self, resolved: &Resolved) -> bool {
        match self.contents.get(&resolved.path) {
            Some(content) => content.is_some(),
            None => resolved.kind != FileKind::Missing,
        }
    }

    fn content(
        &mut self,
        path: &str,
        resolved: &Resolved,
        context: &Context,
        cancel: &CancellationToken,
    ) -> Result<String, String> {
        match self.contents.get(&resolved.path) {
            Some(Some(content)) => Ok(content.clone()),
            Some(None) => Err(format!(
                "cannot update `{path}`: an earlier part of this patch removes it. No file was changed. Correct the patch and call ApplyPatch again."
            )),
            None => {
                let (bytes, source) = context.read(resolved, cancel).map_err(|error| with_advice(&error))?;
                if context.seen.is_outdated(&resolved.path, &bytes) {
                    return Err(changed_since(path, "ApplyPatch"));
                }
                self.sources.insert(resolved.path.clone(), source);
                String::from_utf8(bytes)
                    .map_err(|_bad| format!("`{path}` is not UTF-8 text. No file was changed. Use Execute with a program that can change it."))
            }
        }
    }
}

fn reach(path: &str, context: &Context) -> Result<Resolved, String> {
    context.workspace.reach(path, &context.access).map_err(|error| with_advice(&error))
}
