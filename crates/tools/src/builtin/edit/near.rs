//! What a text that was not found may have been meant to be: the part of the file that is closest to it. Pure.

use std::collections::HashMap;
use std::fmt;

/// The part of a text that is closest to another text.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::builtin) struct Closest {
    difference: Difference,
    first: usize,
    last: usize,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Difference {
    WhiteSpace,
    LineNumbers,
    Other,
}

/// Larger files are searched for white space differences only.
const MAX_COMPARED_BYTES: usize = 2 << 20;
/// How alike two lines must be, from 0 to 1.
const MIN_LIKENESS: f64 = 0.6;
/// Maximum number of lines and characters that are shown.
const MAX_LINES: usize = 40;
const MAX_CHARS: usize = 3_000;

/// Returns the part of `content` that is closest to `wanted`, if any is close.
pub(in crate::builtin) fn closest(content: &str, wanted: &str) -> Option<Closest> {
    let lines: Vec<&str> = content.lines().collect();
    let wanted: Vec<&str> = wanted.trim_matches('\n').lines().collect();
    if wanted.iter().all(|line| line.trim().is_empty()) {
        return None;
    }
    let squeezed: Vec<String> = lines.iter().map(|line| squeeze(line)).collect();
    let found = |at: usize, difference| {
        let last = (at + wanted.len().min(MAX_LINES)).min(lines.len());
        let text: String = lines.get(at..last)?.join("\n").chars().take(MAX_CHARS).collect();
        Some(Closest { difference, first: at + 1, last, text })
    };
    if let Some(at) = position(&squeezed, &wanted) {
        return found(at, Difference::WhiteSpace);
    }
    let unnumbered: Option<Vec<&str>> = wanted.iter().map(|line| without_number(line)).collect();
    if let Some(at) = unnumbered.and_then(|unnumbered| position(&squeezed, &unnumbered)) {
        return found(at, Difference::LineNumbers);
    }
    if content.len() > MAX_COMPARED_BYTES {
        return None;
    }
    found(most_alike(&lines, &wanted)?, Difference::Other)
}

fn squeeze(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Returns where `wanted` is, if white space does not count.
fn position(squeezed: &[String], wanted: &[&str]) -> Option<usize> {
    let wanted: Vec<String> = wanted.iter().map(|line| squeeze(line)).collect();
    if wanted.iter().all(String::is_empty) {
        return None;
    }
    if let [only] = wanted.as_slice() {
        return squeezed.iter().position(|line| line.contains(only.as_str()));
    }
    // the first and the last line may be parts of a line
    let (first, last) = (wanted.first()?, wanted.last()?);
    let within = wanted.get(1..wanted.len() - 1)?;
    squeezed.windows(wanted.len()).position(|window| {
        let ends = window.first().zip(window.last());
        ends.is_some_and(|(begin, end)| begin.ends_with(first.as_str()) && end.starts_with(last.as_str()))
            && window[1..window.len() - 1] == *within
    })
}

/// Returns a line without the number that tools show before it, or `None` if it has none.
fn without_number(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    if rest.is_empty() {
        return Some(rest);
    }
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if behind.len() == rest.len() {
        return None;
    }
    if behind.is_empty() {
        return Some(behind);
    }
    behind.strip_prefix(['\t', ':', '|', '→', '-', ' '])
}

/// Returns the first of the lines that are most like `wanted`: its longest line decides where to look.
fn most_alike(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let (place, anchor) = wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let anchor = Pairs::of(anchor.trim());
    let alike = lines.iter().enumerate().map(|(at, line)| (at, anchor.likeness(line.trim())));
    let (at, likeness) = alike.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    (likeness >= MIN_LIKENESS).then(|| at.saturating_sub(place))
}

/// The pairs of neighbouring bytes of a line, with their numbers.
struct Pairs {
    counts: HashMap<[u8; 2], usize>,
    total: usize,
}

impl Pairs {
    fn of(line: &str) -> Self {
        let mut counts = HashMap::new();
        for pair in line.as_bytes().array_windows::<2>() {
            *counts.entry(*pair).or_insert(0) += 1;
        }
        Self { counts, total: line.len().saturating_sub(1) }
    }

    /// Returns the share of pairs that a line has in common with these, from 0 to 1.
    fn likeness(&self, line: &str) -> f64 {
        let other = line.len().saturating_sub(1);
        // lines of very different length are not alike
        if self.total == 0 || other * 3 < self.total || self.total * 3 < other {
            return 0.0;
        }
        let mut left = self.counts.clone();
        let mut common = 0_usize;
        for pair in line.as_bytes().array_windows::<2>() {
            if let Some(count) = left.get_mut(pair).filter(|count| **count > 0) {
                *count -= 1;
                common += 1;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "lines are short")]
        let likeness = 2.0 * common as f64 / (self.total + other) as f64;
        likeness
    }
}

impl fmt::Display for Closest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { difference, first, last, text } = self;
        let place = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
        match difference {
            Difference::WhiteSpace => {
                write!(f, "The text at {place} differs only in white space. Copy it exactly:")
            }
            Difference::LineNumbers => {
                write!(f, "It contains line numbers, which are not part of the file. The text at {place} is:")
            }
            Difference::Other => write!(f, "The closest text is at {place}:"),
        }?;
        write!(f, "\n{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "fn main() {\n    let answer = 42;\n\tprintln!(\"{answer}\");\n}\n\nfn other() {\n    run();\n}\n";

    fn near(wanted: &str) -> String {
        closest(FILE, wanted).map(|closest| closest.to_string()).unwrap_or_default()
    }

    #[test]
    fn white_space_differences_are_named_and_the_real_text_is_shown() {
        let expected = "The text at lines 2-3 differs only in white space. Copy it exactly:\n    let answer = 42;\n\tprintln!(\"{answer}\");";
        assert_eq!(near("  let answer = 42;\n    println!(\"{answer}\");"), expected);
        assert_eq!(
            near("let answer=42"),
            "The text at line 2 differs only in white space. Copy it exactly:\n    let answer = 42;"
        );
        assert!(near("{\n  run();\n").starts_with("The text at lines 6-7 differs only"));
    }

    #[test]
    fn copied_line_numbers_are_recognised() {
        for wanted in [
            "2:    let answer = 42;\n3:\tprintln!(\"{answer}\");",
            "   2\tlet answer = 42;\n   3\tprintln!(\"{answer}\");",
            "2→    let answer = 42;\n3→\tprintln!(\"{answer}\");",
        ] {
            let found = near(wanted);
            assert!(
                found.starts_with("It contains line numbers")
                    && found.contains("The text at lines 2-3 is:\n    let answer"),
                "{found}"
            );
        }
    }

    #[test]
    fn similar_text_is_shown_and_unrelated_text_is_not() {
        assert_eq!(near("let answers = 41;"), "The closest text is at line 2:\n    let answer = 42;");
        assert!(
            near("fn other() {\n    walk();\n}")
                .starts_with("The closest text is at lines 6-8:\nfn other() {")
        );
        assert_eq!(near("SELECT everything FROM nowhere"), "");
        assert_eq!(near("  \n"), "");
        assert_eq!(closest("", "anything"), None);
    }
}
