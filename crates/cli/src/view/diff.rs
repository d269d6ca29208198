//! Changes of files, line by line.

use std::time::Duration;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::sanitize::sanitized;
use crate::style::{Style, cut};
use crate::styled::Styled;

/// Maximum number of lines shown of a finished change.
const MAX_LINES: usize = 60;
/// Maximum number of lines shown of a change that needs approval; its lines are not cut.
const MAX_PENDING_LINES: usize = 1000;
/// Lines of context around a change.
const CONTEXT_LINES: usize = 2;
/// Time limit of the minimal diff; large files get a longer one.
const DIFF_TIMEOUT: Duration = Duration::from_millis(500);
/// Longer than any line; lines are cut to the width later.
const MAX_LINE_LENGTH: usize = 500;

struct Line {
    sign: char,
    number: Option<u64>,
    text: String,
}

/// Returns the change that a tool reports, if it has the known form.
pub(super) fn of_result(text: &str, style: Style, width: usize) -> Vec<Styled> {
    let Ok(report) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let Some(lines) = report["diffLines"].as_array() else { return Vec::new() };
    let lines = lines.iter().map(|line| {
        let numbers = &line["lineNumber"];
        let sign = match line["type"].as_str() {
            Some("added") => '+',
            Some("removed") => '-',
            _ => ' ',
        };
        Line {
            sign,
            number: numbers["new"].as_u64().or_else(|| numbers["old"].as_u64()),
            text: line["content"].as_str().unwrap_or_default().to_owned(),
        }
    });
    shown(&lines.collect::<Vec<_>>(), style, width, MAX_LINES)
}

/// Returns the whole change from one text to another.
pub(crate) fn between(old: &str, new: &str, style: Style) -> Vec<Styled> {
    let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(old, new);
    let number = |index: Option<usize>| index.and_then(|index| u64::try_from(index + 1).ok());
    let mut lines = Vec::new();
    for op in diff.grouped_ops(CONTEXT_LINES).iter().flatten() {
        lines.extend(diff.iter_changes(op).map(|change| Line {
            sign: match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            },
            number: number(change.new_index().or(change.old_index())),
            text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
        }));
    }
    shown(&lines, style, usize::MAX, MAX_PENDING_LINES)
}

fn shown(lines: &[Line], style: Style, width: usize, max_lines: usize) -> Vec<Styled> {
    let painted = |line: &Line| {
        let number = line.number.map(|number| number.to_string()).unwrap_or_default();
        let text = sanitized(&line.text.replace('\t', "    "), MAX_LINE_LENGTH);
        let text = cut(&format!("{number:>6} {} {text}", line.sign), width);
        match line.sign {
            '+' => style.good(&text),
            '-' => style.bad(&text),
            _ => style.dim(&text),
        }
    };
    let mut out: Vec<_> = lines.iter().take(max_lines).map(painted).collect();
    if lines.len() > max_lines {
        out.push(style.dim(&format!("       … {} more lines", lines.len() - max_lines)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_lines_and_what_is_around() {
        let lines = between("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n", Style::PLAIN);
        assert_eq!(
            lines,
            ["     2   b", "     3   c", "     4 - d", "     4 + D", "     5   e", "     6   f"]
        );
    }

    #[test]
    fn a_reported_change_is_shown_in_colors() {
        let report = r#"{"success":true,"diffLines":[
            {"type":"removed","content":"a\u001b[2J","lineNumber":{"old":7}},
            {"type":"added","content":"b","lineNumber":{"new":7}}]}"#;
        assert_eq!(
            of_result(report, Style::COLORED, 80),
            ["\u{1b}[31m     7 - a [2J\u{1b}[0m", "\u{1b}[32m     7 + b\u{1b}[0m"]
        );
        assert!(of_result("no report", Style::COLORED, 80).is_empty());
    }

    #[test]
    fn a_long_change_ends_with_how_much_is_left_out() {
        let new = (0..1100).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
        let lines = between("", &new, Style::PLAIN);
        assert_eq!((lines.len(), lines[1000].as_str()), (1001, "       … 100 more lines"));
        assert_eq!(lines[12], "    13 + 12");
    }
}
