//! Captures the output of a command: beginning and end in memory, everything in a file once it is long, and the number of lines.

use std::collections::VecDeque;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::limits::{
    MAX_KEPT_OUTPUT_BYTES, MAX_SAVED_OUTPUT_BYTES, MAX_SHOWN_OUTPUT_BYTES, MAX_SHOWN_OUTPUT_LINES,
};

#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    lines: u64,
    unreported: Vec<u8>,
    scratch: PathBuf,
    saved: Option<(File, PathBuf)>,
    /// The file could not be written; the output is kept in memory only.
    is_unsaved: bool,
}

/// The captured output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Captured {
    /// The output, shortened if it is long.
    pub(crate) text: String,
    /// If the output was shortened: the file with everything, and its size in bytes.
    pub(crate) saved: Option<(PathBuf, u64)>,
}

/// Unreported output longer than this is shortened at its beginning.
const MAX_UNREPORTED_BYTES: usize = 16 << 10;

impl Capture {
    pub(super) fn new(scratch: &Path) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            lines: 0,
            unreported: Vec::new(),
            scratch: scratch.to_owned(),
            saved: None,
            is_unsaved: false,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.unreported.extend_from_slice(bytes);
        if self.unreported.len() > MAX_UNREPORTED_BYTES {
            self.unreported.drain(..self.unreported.len() - MAX_UNREPORTED_BYTES);
        }
        let to_head = bytes.len().min(MAX_KEPT_OUTPUT_BYTES - self.head.len());
        let (first, rest) = bytes.split_at(to_head);
        self.head.extend_from_slice(first);
        if self.saved.is_some() {
            self.save(bytes);
        } else if !rest.is_empty() {
            self.start_saving();
            self.save(rest);
        }
        let keep = rest.len().min(MAX_KEPT_OUTPUT_BYTES);
        let surplus = (self.tail.len() + keep).saturating_sub(MAX_KEPT_OUTPUT_BYTES);
        self.tail.drain(..surplus);
        self.tail.extend(&rest[rest.len() - keep..]);
    }

    pub(super) fn has_unreported(&self) -> bool {
        !self.unreported.is_empty()
    }

    pub(super) fn take_unreported(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.unreported)).into_owned()
    }

    pub(super) fn finish(mut self) -> Captured {
        if self.total <= MAX_SHOWN_OUTPUT_BYTES as u64 {
            return Captured { text: String::from_utf8_lossy(&self.head).into_owned(), saved: None };
        }
        if self.saved.is_none() {
            self.start_saving();
        }
        let first = first_lines(&self.head);
        let last_kept: Vec<u8> = if self.tail.is_empty() { self.head.clone() } else { self.joined_end() };
        let last = last_lines(&last_kept);
        let newlines = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u64;
        let ends_open = u64::from(!last_kept.ends_with(b"\n"));
        let all = self.lines + ends_open;
        let shown = newlines(first) + u64::from(!first.ends_with(b"\n")) + newlines(last) + ends_open;
        let note = match all.checked_sub(shown) {
            // one very long line
            None | Some(0) => "[... part of a long line skipped ...]".to_owned(),
            Some(skipped) => format!("[... {skipped} lines skipped ...]"),
        };
        let (first, last) = (String::from_utf8_lossy(first), String::from_utf8_lossy(last));
        let text = format!("{}\n{note}\n{last}", first.trim_end_matches('\n'));
        let total = self.total;
        Captured { text, saved: self.saved.map(|(_, path)| (path, total)) }
    }

    /// Returns the end of the output. If little came after the head, it starts with the end of the head.
    fn joined_end(&self) -> Vec<u8> {
        let from_head = MAX_SHOWN_OUTPUT_BYTES.saturating_sub(self.tail.len()).min(self.head.len());
        let mut end = self.head[self.head.len() - from_head..].to_vec();
        end.extend(&self.tail);
        end
    }

    fn start_saving(&mut self) {
        if self.is_unsaved {
            return;
        }
        match new_file(&self.scratch, "log") {
            Ok(saved) => self.saved = Some(saved),
            Err(error) => self.give_up(&error),
        }
        let head = std::mem::take(&mut self.head);
        self.save(&head);
        self.head = head;
    }

    fn save(&mut self, bytes: &[u8]) {
        let Some((file, _)) = &mut self.saved else { return };
        let is_full = self.total > MAX_SAVED_OUTPUT_BYTES;
        if !is_full && let Err(error) = file.write_all(bytes) {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        tracing::warn!(%error, "cannot save the output of a command");
        self.is_unsaved = true;
        self.saved = None;
    }
}

/// Maximum number of bytes of the beginning, and of the end, that are shown, however long the lines are.
const SHOWN_PART_LIMIT: usize = MAX_SHOWN_OUTPUT_BYTES / 2 - 512;

fn first_lines(bytes: &[u8]) -> &[u8] {
    let end =
        memchr::memchr_iter(b'\n', bytes).nth(MAX_SHOWN_OUTPUT_LINES - 1).map_or(bytes.len(), |at| at + 1);
    &bytes[..end.min(SHOWN_PART_LIMIT)]
}

fn last_lines(bytes: &[u8]) -> &[u8] {
    let within = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let start = memchr::memrchr_iter(b'\n', within).nth(MAX_SHOWN_OUTPUT_LINES - 1).map_or(0, |at| at + 1);
    &bytes[start.max(bytes.len().saturating_sub(SHOWN_PART_LIMIT))..]
}

/// Creates a private file in a private directory.
pub(crate) fn new_file(scratch: &Path, ending: &str) -> io::Result<(File, PathBuf)> {
    DirBuilder::new().recursive(true).mode(0o700).create(scratch)?;
    let path = scratch.join(format!("{}.{ending}", Uuid::new_v4()));
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    Ok((options.open(&path)?, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(pieces: &[&str]) -> (Captured, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(&folder.path().join("scratch"));
        for piece in pieces {
            capture.push(piece.as_bytes());
        }
        let captured = capture.finish();
        let saved = captured.saved.as_ref().map(|(path, _)| fs_err::read_to_string(path).unwrap());
        (captured, saved)
    }

    #[test]
    fn short_output_is_shown_whole_and_not_saved() {
        let (captured, saved) = captured(&["one\n", "tw", "o"]);
        assert_eq!((captured.text.as_str(), saved), ("one\ntwo", None));
    }

    #[test]
    fn long_output_is_shortened_in_the_middle_and_lines_are_counted() {
        for count in [8_000, 20_000, 300_000] {
            let all: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
            let all = all.join("\n") + "\n";
            let pieces: Vec<&str> =
                all.as_bytes().chunks(1000).map(|piece| str::from_utf8(piece).unwrap()).collect();
            let (captured, saved) = captured(&pieces);
            let lines: Vec<&str> = captured.text.lines().collect();
            assert_eq!((lines.len(), lines[0], lines[29]), (61, "1", "30"));
            assert_eq!(lines[30], format!("[... {} lines skipped ...]", count - 60));
            assert_eq!(
                (lines[31], lines[60]),
                ((count - 29).to_string().as_str(), count.to_string().as_str())
            );
            assert_eq!(saved.as_deref(), Some(all.as_str()));
            assert_eq!(captured.saved.unwrap().1, all.len() as u64);
        }
    }

    #[test]
    fn output_of_one_long_line_stays_within_the_limit() {
        let piece = "x".repeat(10_000);
        let (captured, saved) = captured(&vec![piece.as_str(); 100]);
        assert!(captured.text.len() <= MAX_SHOWN_OUTPUT_BYTES, "{}", captured.text.len());
        assert!(captured.text.contains("[... part of a long line skipped ...]"));
        assert_eq!(saved.unwrap().len(), 1_000_000);
    }

    #[test]
    fn memory_and_file_size_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(folder.path());
        let piece = vec![b'y'; 1 << 20];
        for _ in 0..80 {
            capture.push(&piece);
        }
        assert!(
            capture.head.capacity() + capture.tail.capacity() + capture.unreported.capacity()
                < 8 * MAX_KEPT_OUTPUT_BYTES + (2 << 20)
        );
        let (path, total) = capture.finish().saved.unwrap();
        assert_eq!(total, 80 << 20);
        assert!(fs_err::metadata(path).unwrap().len() <= MAX_SAVED_OUTPUT_BYTES);
    }

    #[test]
    fn output_is_shown_if_it_cannot_be_saved() {
        let mut capture = Capture::new(Path::new("/dev/null/nowhere"));
        capture.push("line\n".repeat(10_000).as_bytes());
        let captured = capture.finish();
        assert_eq!(captured.saved, None);
        assert!(captured.text.contains("[... 9940 lines skipped ...]"));
    }
}
