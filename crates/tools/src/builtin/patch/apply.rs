//! Applies hunks to a text. Pure. If no exact match exists, trailing white space is ignored, then leading white space too.

use super::parse::Hunk;
use crate::builtin::edit::near::closest;

/// Applies all hunks in order and returns the new text.
pub(super) fn apply(content: &str, hunks: &[Hunk]) -> Result<String, String> {
    let is_crlf = content.contains("\r\n");
    let text = if is_crlf { content.replace("\r\n", "\n") } else { content.to_owned() };
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    // the empty last line stands for the final line ending of the file
    let ends_with_newline = lines.last().is_some_and(String::is_empty);
    if ends_with_newline {
        lines.pop();
    }
    let mut from = 0;
    for hunk in hunks {
        for anchor in &hunk.anchors {
            let wanted = std::slice::from_ref(anchor);
            let at = find(&lines, wanted, from, false).ok_or_else(|| {
                format!("the line `{anchor}` was not found. No file was changed. Call Read to see the current text.")
            })?;
            from = at + 1;
        }
        let at = place(&lines, hunk, from)?;
        lines.splice(at..at + hunk.old.len(), hunk.new.iter().cloned());
        from = at + hunk.new.len();
    }
    let mut text = lines.join("\n");
    if (ends_with_newline || content.is_empty()) && !lines.is_empty() {
        text.push('\n');
    }
    Ok(if is_crlf { text.replace('\n', "\r\n") } else { text })
}

fn place(lines: &[String], hunk: &Hunk, from: usize) -> Result<usize, String> {
    if hunk.old.is_empty() {
        // a hunk of additions goes after its anchor, or at the end of the file
        return Ok(if hunk.anchors.is_empty() || hunk.at_end { lines.len() } else { from });
    }
    let found = find(lines, &hunk.old, from, hunk.at_end);
    found.ok_or_else(|| {
        let wanted = hunk.old.join("\n");
        let next = match closest(&lines.join("\n"), &wanted) {
            Some(closest) => closest.to_string(),
            None => "Call Read to see the current text.".to_owned(),
        };
        format!("these lines were not found:\n{wanted}\nNo file was changed. {next}")
    })
}

/// Returns where `wanted` starts, at or after `from`. The most exact comparison that finds a match wins.
fn find(lines: &[String], wanted: &[String], from: usize, at_end: bool) -> Option<usize> {
    let comparisons: [fn(&str) -> &str; 3] = [|line| line, str::trim_end, str::trim];
    let last = lines.len().checked_sub(wanted.len())?;
    comparisons.iter().find_map(|simplified| {
        let is_match = |at: &usize| {
            lines[*at..].iter().zip(wanted).all(|(one, other)| simplified(one) == simplified(other))
        };
        let ending = at_end.then_some(last).filter(|at| *at >= from && is_match(at));
        ending.or_else(|| (from..=last).find(is_match))
    })
}
