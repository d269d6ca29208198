//! The diff of a file for clients: JSON with the removed and added lines.

use std::time::Duration;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// The number of unchanged lines around a change.
const CONTEXT_LINES: usize = 3;
/// After this time the algorithm settles for a diff that is not minimal. Matters for large files with many changes.
const DIFF_TIMEOUT: Duration = Duration::from_millis(500);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    success: bool,
    #[serde(rename = "file_path")]
    file_path: &'a str,
    diff_lines: Vec<Line>,
    lines_added: usize,
    lines_removed: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "type")]
    kind: &'static str,
    content: String,
    #[serde(rename = "lineNumber")]
    numbers: Numbers,
}

#[derive(Serialize)]
struct Numbers {
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<usize>,
}

/// Formats the report of one changed file.
pub(crate) fn report(file_path: &str, old: &str, new: &str) -> String {
    let (diff_lines, lines_added, lines_removed) = lines(old, new);
    let report = Report { success: true, file_path, diff_lines, lines_added, lines_removed };
    serde_json::to_string(&report).unwrap_or_default()
}

/// Returns how many lines a change adds and removes.
pub(crate) fn counts(old: &str, new: &str) -> (usize, usize) {
    let (_, added, removed) = lines(old, new);
    (added, removed)
}

fn lines(old: &str, new: &str) -> (Vec<Line>, usize, usize) {
    let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(old, new);
    let (mut lines, mut added, mut removed) = (Vec::new(), 0, 0);
    for op in diff.grouped_ops(CONTEXT_LINES).iter().flatten() {
        for change in diff.iter_changes(op) {
            let kind = match change.tag() {
                ChangeTag::Equal => "unchanged",
                ChangeTag::Delete => {
                    removed += 1;
                    "removed"
                }
                ChangeTag::Insert => {
                    added += 1;
                    "added"
                }
            };
            let number = |index: Option<usize>| index.map(|index| index + 1);
            let content = change.value().trim_end_matches(['\n', '\r']).to_owned();
            let numbers = Numbers { old: number(change.old_index()), new: number(change.new_index()) };
            lines.push(Line { kind, content, numbers });
        }
    }
    (lines, added, removed)
}
