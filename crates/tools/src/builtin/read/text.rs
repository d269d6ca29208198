//! The lines of a text that one call returns, and the note that says which they are. Pure.

use crate::ToolOutput;
use crate::limits::{MAX_READ_CHARS, MAX_READ_LINES};

/// Which lines a call asks for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted {
    /// The number of the first line; the first line of a text is 1.
    pub(super) offset: Option<u64>,
    /// The maximum number of lines.
    pub(super) limit: Option<u64>,
}

/// Returns the wanted lines, as far as they fit. `about` describes a text that is not the content of the file itself.
pub(super) fn output(text: &str, wanted: Wanted, about: Option<&str>) -> ToolOutput {
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let lines: Vec<&str> = text.split('\n').collect();
    let skip = number(wanted.offset.unwrap_or(0)).saturating_sub(1);
    let limit = wanted.limit.map_or(MAX_READ_LINES, number).min(MAX_READ_LINES);
    let from = skip.min(lines.len());
    let to = from.saturating_add(limit).min(lines.len());
    let (shown, cut_line) = fitting(&lines[from..to]);
    let last = from + shown;
    let mut slice = lines[from..last].join("\n");
    if let Some(kept) = cut_line {
        slice.truncate(kept);
    }
    let for_client = slice.strip_suffix('\n').unwrap_or(&slice).to_owned();
    let is_whole = wanted.offset.is_none_or(|offset| offset <= 1)
        && wanted.limit.is_none()
        && last == lines.len()
        && cut_line.is_none();
    let note = (!is_whole).then(|| note(&lines, skip, last, cut_line.is_some()));
    let notes: Vec<&str> = about.into_iter().chain(note.as_deref()).collect();
    if notes.is_empty() {
        return ToolOutput::two(for_client, slice);
    }
    let notes = format!("<system-reminder>{}</system-reminder>", notes.join(" "));
    let for_model = if slice.is_empty() { notes } else { format!("{slice}\n\n{notes}") };
    ToolOutput::two(for_client, for_model)
}

/// Returns how many whole lines fit, and where to cut the first line if it does not fit by itself.
fn fitting(lines: &[&str]) -> (usize, Option<usize>) {
    let mut left = MAX_READ_CHARS;
    for (index, line) in lines.iter().enumerate() {
        let needed = line.chars().count() + usize::from(index > 0);
        if needed > left {
            let cut = line.char_indices().nth(MAX_READ_CHARS).map(|(at, _)| at);
            return if index == 0 { (1, cut) } else { (index, None) };
        }
        left -= needed;
    }
    (lines.len(), None)
}

fn note(lines: &[&str], skip: usize, last: usize, is_line_cut: bool) -> String {
    let all = lines.len();
    // the part after the final line ending is not worth another call
    let is_rest = last < all && !(last + 1 == all && lines.last().is_some_and(|line| line.is_empty()));
    let (first, shown_last) = (skip.saturating_add(1), if last > skip { last } else { skip });
    let mut note = format!("Showing lines {first}-{shown_last} of {all} total lines.");
    if skip >= all {
        note = format!("There is no line {first}: the text has {all} lines. Use a smaller `offset`.");
    }
    if is_line_cut {
        let chars = lines.get(skip).map_or(0, |line| line.chars().count());
        note = format!(
            "{note} Line {first} is cut after {MAX_READ_CHARS} of {chars} characters. To see the rest, use Grep, or `cut -c` with Execute."
        );
    }
    if is_rest {
        note = format!("{note} To read on, use `offset` {}.", last + 1);
    }
    note
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, offset: Option<u64>, limit: Option<u64>) -> String {
        output(text, Wanted { offset, limit }, None).model_text()
    }

    #[test]
    fn note_names_the_lines_that_are_shown_and_the_next_one() {
        let lines: Vec<String> = (1..=3000).map(|number| number.to_string()).collect();
        let text = lines.join("\n") + "\n";
        let first = read(&text, None, None);
        assert!(
            first.ends_with("\n2400\n\n<system-reminder>Showing lines 1-2400 of 3001 total lines. To read on, use `offset` 2401.</system-reminder>"),
            "{}",
            &first[first.len() - 200..]
        );
        let second = read(&text, Some(2401), None);
        assert!(
            second.starts_with("2401\n") && second.contains("Showing lines 2401-3001 of 3001 total lines.<")
        );
        assert!(
            read(&text, Some(11), Some(2))
                .starts_with("11\n12\n\n<system-reminder>Showing lines 11-12 of 3001")
        );
        let last = read(&text, Some(2999), Some(2));
        assert!(!last.contains("read on"), "only the end of the last line is left: {last}");
        assert!(read(&text, Some(5000), None).contains("There is no line 5000: the text has 3001 lines."));
    }

    #[test]
    fn only_whole_lines_are_shown_when_characters_run_out() {
        let text = vec!["é".repeat(99); 1000].join("\n");
        let shown = read(&text, None, None);
        assert!(
            shown.contains("Showing lines 1-600 of 1000 total lines. To read on, use `offset` 601."),
            "{}",
            &shown[shown.len() - 200..]
        );
        assert!(shown.lines().next().is_some_and(|line| line.chars().count() == 99));
        assert_eq!(shown.matches(&"é".repeat(99)).count(), 600);
        assert!(read(&text, Some(601), None).contains("Showing lines 601-1000 of 1000 total lines.<"));
    }

    #[test]
    fn line_that_does_not_fit_is_cut_and_the_note_says_so() {
        let text = format!("{}\nnext", "ä".repeat(70_000));
        let shown = output(&text, Wanted::default(), None);
        assert_eq!(shown.client_text().chars().count(), MAX_READ_CHARS);
        let note = shown.model_text();
        assert!(
            note.contains("Line 1 is cut after 60000 of 70000 characters.")
                && note.contains("use `offset` 2.")
        );
        assert_eq!(read(&text, Some(2), None).lines().next(), Some("next"));
    }
}
