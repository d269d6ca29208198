//! Changes of files, line by line.

use std::time::Duration;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::text::{Face, Line};
use crate::sanitize::sanitized;
use crate::style::Style;
use crate::styled::Styled;

/// Maximum number of lines shown of a finished change.
const MAX_LINES: usize = 60;
/// Lines of context around a change.
const CONTEXT_LINES: usize = 2;
/// Time limit of the minimal diff; large files get a longer one.
const DIFF_TIMEOUT: Duration = Duration::from_millis(500);
/// Time limit of the diff of two lines.
const WORDS_TIMEOUT: Duration = Duration::from_millis(50);
/// Longer than any line; lines are cut to the width later.
const MAX_LINE_LENGTH: usize = 500;

struct Changed {
    sign: char,
    number: Option<u64>,
    text: String,
}

/// Returns the change that a tool reports, if it has the known form.
pub(super) fn of_result(text: &str, style: Style, width: usize) -> Vec<Styled> {
    styled(&reported(text, width), style)
}

/// Returns the same, as lines that are not styled yet.
pub(crate) fn reported(text: &str, width: usize) -> Vec<Line> {
    let Ok(report) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let Some(lines) = report["diffLines"].as_array() else { return Vec::new() };
    let lines = lines.iter().map(|line| {
        let numbers = &line["lineNumber"];
        let sign = match line["type"].as_str() {
            Some("added") => '+',
            Some("removed") => '-',
            _ => ' ',
        };
        Changed {
            sign,
            number: numbers["new"].as_u64().or_else(|| numbers["old"].as_u64()),
            text: line["content"].as_str().unwrap_or_default().to_owned(),
        }
    });
    shown(&lines.collect::<Vec<_>>(), width, MAX_LINES)
}

/// Returns the lines of a change that a tool reports, without colours; empty if it reports none.
pub(crate) fn change_lines(text: &str) -> String {
    let lines = of_result(text, Style::PLAIN, MAX_LINE_LENGTH);
    lines.iter().map(|line| line.as_str().trim_start()).collect::<Vec<_>>().join("\n")
}

/// Returns the whole change from one text to another.
pub(crate) fn between(old: &str, new: &str, style: Style) -> Vec<Styled> {
    styled(&changes(old, new), style)
}

/// Returns the same, as lines that are not styled yet.
pub(crate) fn changes(old: &str, new: &str) -> Vec<Line> {
    let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(old, new);
    let number = |index: Option<usize>| index.and_then(|index| u64::try_from(index + 1).ok());
    let mut lines = Vec::new();
    for op in diff.grouped_ops(CONTEXT_LINES).iter().flatten() {
        lines.extend(diff.iter_changes(op).map(|change| Changed {
            sign: match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            },
            number: number(change.new_index().or(change.old_index())),
            text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
        }));
    }
    // the decision is about all of it, so all of it is shown
    shown(&lines, usize::MAX, usize::MAX)
}

fn styled(lines: &[Line], style: Style) -> Vec<Styled> {
    lines.iter().map(|line| line.styled(style)).collect()
}

fn shown(lines: &[Changed], width: usize, max_lines: usize) -> Vec<Line> {
    let counterparts = counterparts(lines);
    let painted = |(index, line): (usize, &Changed)| {
        let number = line.number.map(|number| number.to_string()).unwrap_or_default();
        let max_length = if max_lines == usize::MAX { usize::MAX } else { MAX_LINE_LENGTH };
        let text = sanitized(&line.text.replace('\t', "    "), max_length);
        let face = match line.sign {
            '+' => Face::GOOD,
            '-' => Face::BAD,
            _ => Face::DIM,
        };
        let mut shown = Line::new(&format!("{number:>6} {} ", line.sign), face);
        let other = counterparts.get(index).copied().flatten().and_then(|other| lines.get(other));
        match other.and_then(|other| changed_words(&text, &other.text)) {
            Some(words) => {
                let marked = Face { is_strong: true, is_underlined: true, ..face };
                for (word, is_new) in words {
                    shown.push(&word, if is_new { marked } else { face });
                }
            }
            None => shown.push(&text, face),
        }
        shown.cut(width)
    };
    let mut out: Vec<_> = lines.iter().enumerate().take(max_lines).map(painted).collect();
    if lines.len() > max_lines {
        out.push(Line::new(&format!("       … {} more lines", lines.len() - max_lines), Face::DIM));
    }
    out
}

/// For each line the one that it replaces or is replaced by: the lines of a removal and of the addition after it, one by one.
fn counterparts(lines: &[Changed]) -> Vec<Option<usize>> {
    let mut out = vec![None; lines.len()];
    let run = |from: usize, sign: char| lines[from..].iter().take_while(|line| line.sign == sign).count();
    let mut at = 0;
    while at < lines.len() {
        let removed = run(at, '-');
        let added = run(at + removed, '+');
        if removed == added {
            for index in 0..removed {
                (out[at + index], out[at + removed + index]) = (Some(at + removed + index), Some(at + index));
            }
        }
        at += (removed + added).max(1);
    }
    out
}

/// Returns the words of a line, each with whether the other line does not have it; `None` if the lines have little in common.
fn changed_words(text: &str, other: &str) -> Option<Vec<(String, bool)>> {
    let diff = TextDiff::configure().timeout(WORDS_TIMEOUT).diff_words(other, text);
    if diff.ratio() < 0.5 {
        return None;
    }
    let kept = diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Delete);
    Some(kept.map(|change| (change.value().to_owned(), change.tag() == ChangeTag::Insert)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_is_shown_with_its_lines_and_what_is_around() {
        let lines = between("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n", Style::PLAIN);
        assert_eq!(
            lines,
            ["     2   b", "     3   c", "     4 - d", "     4 + D", "     5   e", "     6   f"]
        );
    }

    #[test]
    fn reported_change_is_shown_in_colors() {
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
    fn changed_words_of_a_line_are_marked() {
        let lines = changes("let total = price * count;\n", "let total = price * amount;\n");
        let marked = Face { is_strong: true, is_underlined: true, ..Face::GOOD };
        let expected = Line::new("     1 + let total = price * ", Face::GOOD).with("amount;", marked);
        assert_eq!(lines[1], expected);
        // lines that have little in common are not compared
        assert_eq!(changes("one\n", "two\n")[1], Line::new("     1 + two", Face::GOOD));
    }

    #[test]
    fn change_that_needs_approval_is_shown_completely() {
        let long = "x".repeat(2000);
        let new = (0..3000).map(|line| format!("{line}{long}")).collect::<Vec<_>>().join("\n");
        let lines = between("", &new, Style::PLAIN);
        assert_eq!(lines.len(), 3000);
        assert_eq!(lines[2999].as_str(), format!("  3000 + 2999{long}"));
    }
}
