//! What an editor is shown of a tool call: title, kind, files, and what it would change.
//!
//! Never fails: an unknown tool, or one with an input of the wrong shape, is shown by its name.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{Content, Diff, ToolCallContent, ToolCallLocation, ToolKind};
use serde_json::Value;

use super::patch;

/// The tool that runs commands.
pub(crate) const EXECUTE: &str = "Execute";

/// The longest title; editors show it in one line.
const MAX_TITLE_LENGTH: usize = 200;

/// What is shown of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolCallView {
    pub(crate) title: String,
    pub(crate) kind: ToolKind,
    pub(crate) content: Vec<ToolCallContent>,
    pub(crate) locations: Vec<ToolCallLocation>,
}

/// Returns what to show of a call of `name`. Paths become absolute by `cwd`.
pub(crate) fn show(name: &str, input: &Value, cwd: &Path) -> ToolCallView {
    let text = |keys: &[&str]| keys.iter().find_map(|key| input[*key].as_str()).map(str::to_owned);
    let path = text(&["file_path", "path", "directory_path", "folder"]).map(|path| absolute(cwd, &path));
    let named = |verb: &str, what: Option<String>| match what {
        Some(what) => format!("{verb} {what}"),
        None => verb.to_owned(),
    };
    let shown_path = path.as_deref().map(|path| shorter(path, cwd));
    let mut content = Vec::new();
    let mut locations: Vec<_> = path.iter().cloned().map(ToolCallLocation::new).collect();
    let (title, kind) = match name {
        "Read" => {
            if let (Some(location), Some(line)) = (locations.first_mut(), input["offset"].as_u64()) {
                // the tool counts lines from 0, editors from 1
                location.line = u32::try_from(line.saturating_add(1)).ok();
            }
            (named("Read", shown_path), ToolKind::Read)
        }
        "LS" => (named("List", shown_path), ToolKind::Read),
        "Grep" | "Glob" | "ToolSearch" | "ConnectorSearch" => {
            let patterns = input["patterns"]
                .as_array()
                .map(|patterns| patterns.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "));
            (named(name, text(&["pattern", "query"]).or(patterns)), ToolKind::Search)
        }
        "Edit" | "MultiEdit" => {
            if let Some(path) = &path {
                content = edits(path, input);
            }
            (named("Edit", shown_path), ToolKind::Edit)
        }
        "Create" | "Write" => {
            if let (Some(path), Some(new)) = (&path, text(&["content"])) {
                content.push(diff(path, None, new));
            }
            (named("Create", shown_path), ToolKind::Edit)
        }
        "ApplyPatch" => {
            let patch = input.as_str().map(str::to_owned);
            let patch = patch.or_else(|| text(&["input", "patch", "patch_content"])).unwrap_or_default();
            let changes = patch::changes(&patch);
            let paths: Vec<_> = changes.iter().map(|change| absolute(cwd, &change.path)).collect();
            let files: Vec<_> = paths.iter().map(|path| shorter(path, cwd)).collect();
            locations = paths.iter().cloned().map(ToolCallLocation::new).collect();
            content = changes
                .into_iter()
                .zip(&paths)
                .map(|(change, path)| diff(path, change.old, change.new))
                .collect();
            if content.is_empty() && !patch.is_empty() {
                content.push(fenced(&patch));
            }
            (named("Edit", (!files.is_empty()).then(|| files.join(", "))), ToolKind::Edit)
        }
        EXECUTE => (text(&["command"]).unwrap_or_else(|| "Run a command".to_owned()), ToolKind::Execute),
        "FetchUrl" => (named("Fetch", text(&["url"])), ToolKind::Fetch),
        "WebSearch" => (named("Search the web:", text(&["query"])), ToolKind::Fetch),
        "Task" | "Skill" | "TaskOutput" | "TaskStop" => {
            (named(name, text(&["description", "skill", "name"])), ToolKind::Think)
        }
        "ExitSpecMode" => {
            content.extend(text(&["plan"]).map(words));
            (text(&["title"]).unwrap_or_else(|| "Plan".to_owned()), ToolKind::SwitchMode)
        }
        "AskUser" => ("Questions".to_owned(), ToolKind::Other),
        other => match other.split_once("___") {
            Some((server, tool)) => (format!("{server}: {tool}"), ToolKind::Other),
            None => (other.to_owned(), ToolKind::Other),
        },
    };
    ToolCallView { title: one_line(&title), kind, content, locations }
}

/// Returns the whole change of a file.
pub(crate) fn diff(path: &Path, old: Option<String>, new: impl Into<String>) -> ToolCallContent {
    let diff = Diff::new(path, new);
    ToolCallContent::Diff(match old {
        Some(old) => diff.old_text(old),
        None => diff,
    })
}

/// Plain words.
pub(crate) fn words(text: impl Into<String>) -> ToolCallContent {
    ToolCallContent::Content(Content::new(text.into()))
}

/// Text that is not prose: editors show content as Markdown.
pub(crate) fn fenced(text: &str) -> ToolCallContent {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    words(format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n')))
}

/// Returns a path that means the same wherever it is read.
pub(crate) fn absolute(cwd: &Path, path: &str) -> PathBuf {
    cwd.join(path)
}

fn edits(path: &Path, input: &Value) -> Vec<ToolCallContent> {
    let one = |edit: &Value| {
        let text = |keys: [&str; 2]| keys.iter().find_map(|key| edit[*key].as_str()).map(str::to_owned);
        let (old, new) = (text(["old_str", "old_string"]), text(["new_str", "new_string"]));
        new.map(|new| diff(path, old, new))
    };
    let many = ["changes", "edits"].iter().find_map(|key| input[*key].as_array());
    match many {
        Some(edits) => edits.iter().filter_map(one).collect(),
        None => one(input).into_iter().collect(),
    }
}

fn shorter(path: &Path, cwd: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}

fn one_line(title: &str) -> String {
    let mut lines = title.lines();
    let first = lines.next().unwrap_or_default();
    let is_cut = lines.next().is_some() || first.chars().count() > MAX_TITLE_LENGTH;
    let mut line: String = first.chars().take(MAX_TITLE_LENGTH).collect();
    if is_cut {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests;
