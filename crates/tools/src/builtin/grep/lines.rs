//! Collects the matching lines of one file, formatted for output.

use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use crate::limits::MAX_GREP_LINE_BYTES;

/// Collects matching lines and their context.
pub(super) struct Lines<'a> {
    prefix: Option<&'a str>,
    is_numbered: bool,
    /// Whether lines are collected. If not, one match is enough: the file matches.
    wants_text: bool,
    limit: usize,
    pub(super) text: Vec<String>,
    pub(super) matches: usize,
    pub(super) has_context: bool,
    pub(super) is_cut: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(prefix: Option<&'a str>, is_numbered: bool, wants_text: bool, limit: usize) -> Self {
        Self {
            prefix,
            is_numbered,
            wants_text,
            limit,
            text: Vec::new(),
            matches: 0,
            has_context: false,
            is_cut: false,
        }
    }

    fn push(&mut self, number: Option<u64>, bytes: &[u8], sign: char) {
        for (line, offset) in bytes.split(|byte| *byte == b'\n').zip(0..) {
            if offset > 0 && line.is_empty() && bytes.ends_with(b"\n") {
                break;
            }
            let mut text = String::from_utf8_lossy(&line[..line.len().min(MAX_GREP_LINE_BYTES)]).into_owned();
            if line.len() > MAX_GREP_LINE_BYTES {
                text.push_str(" [... long line ...]");
            }
            let text = text.trim_end_matches('\r');
            let number =
                number.filter(|_| self.is_numbered).map(|number| format!("{}{sign}", number + offset));
            let prefix = self.prefix.map(|prefix| format!("{prefix}{sign}"));
            self.text.push(format!("{}{}{text}", prefix.unwrap_or_default(), number.unwrap_or_default()));
        }
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.matches == self.limit {
            self.is_cut = true;
            return Ok(false);
        }
        self.matches += 1;
        if self.wants_text {
            self.push(found.line_number(), found.bytes(), ':');
        }
        Ok(self.wants_text)
    }

    fn context(&mut self, _searcher: &Searcher, around: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.has_context = true;
        self.push(around.line_number(), around.bytes(), '-');
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> Result<bool, io::Error> {
        self.has_context = true;
        self.text.push("--".to_owned());
        Ok(true)
    }
}
