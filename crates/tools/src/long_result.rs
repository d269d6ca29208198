//! Results that are too long for a context: the model gets the beginning, a file has everything, and a note says how to go on.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::limits::MAX_LIST_CHARS;
use crate::process::new_file;
use crate::{Part, ToolOutput};

/// A result that consists of lines.
pub(crate) struct List {
    pub(crate) lines: Vec<String>,
    /// The number of lines that may be shown, however short they are.
    pub(crate) max_lines: usize,
    /// What was counted, such as `142 matches`.
    pub(crate) total: String,
    /// How to get a shorter result.
    pub(crate) hint: &'static str,
}

impl List {
    /// Returns the output: as much as fits, and the rest in a file in `scratch`.
    pub(crate) fn output(self, scratch: &Path) -> ToolOutput {
        let fitting = fitting(&self.lines, MAX_LIST_CHARS).min(self.max_lines);
        let text = self.lines[..fitting].join("\n");
        if fitting == self.lines.len() {
            return ToolOutput::text(text);
        }
        let (total, lines, hint) = (&self.total, self.lines.len(), self.hint);
        let place = match save(scratch, &self.lines.join("\n")) {
            Ok(path) => {
                format!("All lines are in {}: use Grep or Read on it.", path.display())
            }
            Err(error) => format!("The other lines could not be saved: {error}."),
        };
        let note = format!("[Found {total}. Shown: lines 1-{fitting} of {lines}. {place} {hint}]");
        let for_model = if text.is_empty() { note } else { format!("{text}\n\n{note}") };
        ToolOutput::two(text, for_model)
    }
}

/// Returns how many of the first lines fit. One line always does.
fn fitting(lines: &[String], max_chars: usize) -> usize {
    let mut left = max_chars;
    let fits = |line: &&String| {
        let needed = line.chars().count() + 1;
        let is_fitting = needed <= left;
        left = left.saturating_sub(needed);
        is_fitting
    };
    lines.iter().take_while(fits).count().max(1).min(lines.len())
}

impl ToolOutput {
    /// Returns the number of characters of the text for the model.
    pub fn model_chars(&self) -> usize {
        let count = |part: &Part| match part {
            Part::Text(text) => text.chars().count(),
            Part::Image { .. } | Part::Document(_) => 0,
        };
        self.for_model.iter().map(count).sum()
    }

    /// Shortens the text for the model to about `max_chars`, and saves all of it to a file in `scratch`. Blocks.
    ///
    /// Returns the number of characters that the text has then.
    pub fn shorten(&mut self, max_chars: usize, scratch: &Path) -> usize {
        let total = self.model_chars();
        if total <= max_chars {
            return total;
        }
        let place = match save(scratch, &self.model_text()) {
            Ok(path) => format!("The whole result is in {}: use Grep or Read on it.", path.display()),
            Err(error) => format!("The rest could not be saved: {error}."),
        };
        let mut left = max_chars;
        for part in &mut self.for_model {
            let Part::Text(text) = part else { continue };
            let cut = text.char_indices().nth(left).map(|(at, _)| at);
            left = left.saturating_sub(text.chars().count());
            if let Some(at) = cut {
                text.truncate(at);
            }
        }
        let note = format!(
            "[Cut after {max_chars} of {total} characters, because the results of one message share a limit. {place} Make fewer or narrower calls at once.]"
        );
        self.for_model.push(Part::Text(note));
        max_chars
    }
}

/// Saves a text to a new file.
fn save(scratch: &Path, text: &str) -> io::Result<PathBuf> {
    let (mut file, path) = new_file(scratch, "txt")?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(lines: usize, of: &str) -> List {
        let lines = (0..lines).map(|number| format!("{of}{number}")).collect();
        List { lines, max_lines: 2000, total: "many files".to_owned(), hint: "Narrow the pattern." }
    }

    #[test]
    fn short_list_is_returned_whole() {
        let folder = tempfile::tempdir().unwrap();
        let output = list(3, "f").output(&folder.path().join("scratch"));
        assert_eq!(
            (output.model_text().as_str(), output.client_text().as_str()),
            ("f0\nf1\nf2", "f0\nf1\nf2")
        );
        assert!(!folder.path().join("scratch").exists(), "no file is made");
    }

    #[test]
    fn long_list_is_cut_at_a_line_and_a_file_has_all_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let output = list(3000, &"x".repeat(95)).output(folder.path());
        let text = output.model_text();
        assert!(text.chars().count() < MAX_LIST_CHARS + 500, "{}", text.len());
        assert!(
            text.contains("[Found many files. Shown: lines 1-20") && text.ends_with("Narrow the pattern.]")
        );
        let path = text.split_once("All lines are in ").unwrap().1.split_once(':').unwrap().0;
        assert_eq!(fs_err::read_to_string(path).unwrap().lines().count(), 3000);
        assert!(output.client_text().lines().all(|line| line.len() >= 96), "whole lines only");
    }

    #[test]
    fn output_is_shortened_to_its_share_and_saved() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = ToolOutput::text("é".repeat(1000));
        assert_eq!(output.shorten(1000, folder.path()), 1000);
        assert_eq!(output.for_model.len(), 1);
        output.for_model.push(Part::Text("more".to_owned()));
        assert_eq!(output.shorten(100, folder.path()), 100);
        let text = output.model_text();
        assert!(
            text.starts_with(&"é".repeat(100)) && text.contains("[Cut after 100 of 1004 characters"),
            "{text}"
        );
        let path = text.split_once("result is in ").unwrap().1.split_once(':').unwrap().0;
        assert_eq!(fs_err::read_to_string(path).unwrap(), format!("{}\nmore", "é".repeat(1000)));
        assert_eq!(output.client_text(), "é".repeat(1000), "clients get everything");
    }
}
