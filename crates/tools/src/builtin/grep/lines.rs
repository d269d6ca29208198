//! Collects the matching lines of one file, formatted for output.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use crate::limits::MAX_GREP_LINE_BYTES;

/// How lines are shown.
#[derive(Clone, Copy)]
pub(super) struct Style<'a> {
    /// The name of the file before each line.
    pub(super) prefix: Option<&'a str>,
    pub(super) is_numbered: bool,
    /// Whether lines are collected. If not, one match is enough: the file matches.
    pub(super) wants_text: bool,
}

/// Collects matching lines and their context.
pub(super) struct Lines<'a> {
    style: Style<'a>,
    matcher: &'a RegexMatcher,
    limit: usize,
    pub(super) text: Vec<String>,
    pub(super) bytes: usize,
    /// For each match, the number of lines up to its end.
    pub(super) match_ends: Vec<usize>,
    pub(super) matches: usize,
    pub(super) has_context: bool,
    pub(super) is_cut: bool,
}

/// The part of the kept bytes of a long line that is before the match.
const BEFORE_MATCH: usize = MAX_GREP_LINE_BYTES / 4;

impl<'a> Lines<'a> {
    pub(super) fn new(style: Style<'a>, matcher: &'a RegexMatcher, limit: usize) -> Self {
        Self {
            style,
            matcher,
            limit,
            text: Vec::new(),
            bytes: 0,
            match_ends: Vec::new(),
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
            let text = self.shortened(line);
            let number = number.filter(|_| self.style.is_numbered);
            let number = number.map(|number| format!("{}{sign}", number + offset)).unwrap_or_default();
            let prefix = self.style.prefix.map(|prefix| format!("{prefix}{sign}")).unwrap_or_default();
            let line = format!("{prefix}{number}{text}");
            self.bytes += line.len();
            self.text.push(line);
        }
    }

    /// Returns a line; of a long one only the surroundings of the match.
    fn shortened(&self, line: &[u8]) -> String {
        let text = |bytes| String::from_utf8_lossy(bytes).trim_end_matches('\r').to_owned();
        if line.len() <= MAX_GREP_LINE_BYTES {
            return text(line);
        }
        let found = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
        let from = found.saturating_sub(BEFORE_MATCH);
        let to = (from + MAX_GREP_LINE_BYTES).min(line.len());
        let before = if from > 0 { "[...] " } else { "" };
        let behind = if to < line.len() { " [... long line ...]" } else { "" };
        format!("{before}{}{behind}", text(&line[from..to]))
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
        if self.style.wants_text {
            self.push(found.line_number(), found.bytes(), ':');
            self.match_ends.push(self.text.len());
        }
        Ok(self.style.wants_text)
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
