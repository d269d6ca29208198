//! Changes of files, line by line.

use std::time::Duration;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::look::{Look, cut};
use crate::sanitize::sanitized;
use crate::styled::Styled;

/// So many lines of a change are shown that was made.
const MOST: usize = 60;
/// So many of one that needs consent, which are not cut either.
const MOST_ASKED: usize = 1000;
/// Lines around a change.
const AROUND: usize = 2;
/// For large files with many changes: a longer diff, but soon.
const PATIENCE: Duration = Duration::from_millis(500);
/// More than any line; what is longer is cut to the width later.
const LONGEST: usize = 500;

struct Line {
    sign: char,
    number: Option<u64>,
    text: String,
}

/// The change that a tool reports, if it reports one as agents do.
pub(super) fn of_result(text: &str, look: Look, width: usize) -> Vec<Styled> {
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
    shown(&lines.collect::<Vec<_>>(), look, width, MOST)
}

/// The change from one text to another, whole.
pub(crate) fn between(old: &str, new: &str, look: Look) -> Vec<Styled> {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let number = |index: Option<usize>| index.and_then(|index| u64::try_from(index + 1).ok());
    let mut lines = Vec::new();
    for op in diff.grouped_ops(AROUND).iter().flatten() {
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
    shown(&lines, look, usize::MAX, MOST_ASKED)
}

fn shown(lines: &[Line], look: Look, width: usize, most: usize) -> Vec<Styled> {
    let painted = |line: &Line| {
        let number = line.number.map(|number| number.to_string()).unwrap_or_default();
        let text = sanitized(&line.text.replace('\t', "    "), LONGEST);
        let text = cut(&format!("{number:>6} {} {text}", line.sign), width);
        match line.sign {
            '+' => look.good(&text),
            '-' => look.bad(&text),
            _ => look.dim(&text),
        }
    };
    let mut out: Vec<_> = lines.iter().take(most).map(painted).collect();
    if lines.len() > most {
        out.push(look.dim(&format!("       … {} more lines", lines.len() - most)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_lines_and_what_is_around() {
        let lines = between("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n", Look::PLAIN);
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
            of_result(report, Look::COLOURED, 80),
            ["\u{1b}[31m     7 - a [2J\u{1b}[0m", "\u{1b}[32m     7 + b\u{1b}[0m"]
        );
        assert!(of_result("no report", Look::COLOURED, 80).is_empty());
    }

    #[test]
    fn a_long_change_ends_with_how_much_is_left_out() {
        let new = (0..1100).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
        let lines = between("", &new, Look::PLAIN);
        assert_eq!((lines.len(), lines[1000].as_str()), (1001, "       … 100 more lines"));
        assert_eq!(lines[12], "    13 + 12");
    }
}
