//! Markdown that arrives in pieces, as lines for a terminal: what is complete is final, and the rest can be shown as it is so far.
//!
//! Top-level blocks are split off by lines, because a line decides whether a block is over; what is inside one is parsed by
//! `pulldown-cmark`. Code is final line by line and is not wrapped, so that it can be copied. Pure.

mod block;
mod code;

use super::text::{Face, Line};

/// A block that is longer becomes final in parts.
const MAX_BLOCK: usize = 16 * 1024;

/// A text in Markdown, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    /// The text that is not final.
    pending: String,
    /// How much of it was looked at: whole lines.
    scanned: usize,
    /// How much of the line after that was searched for its end.
    searched: usize,
    fence: Option<Fence>,
    has_lines: bool,
    /// Whether a blank line stands before the next block.
    is_gap: bool,
}

/// A code block that is open.
#[derive(Debug)]
struct Fence {
    marker: char,
    length: usize,
    highlighter: code::Highlighter,
}

impl Markdown {
    /// Adds text; returns the lines that became final.
    pub(crate) fn push(&mut self, text: &str, width: usize) -> Vec<Line> {
        self.pending.push_str(text);
        let mut out = Vec::new();
        while self.step(width, &mut out) {}
        if self.pending.len() > MAX_BLOCK {
            self.split_long(width, &mut out);
        }
        out
    }

    /// Ends the text, and returns the rest of the lines, which are final.
    pub(crate) fn finish(&mut self, width: usize) -> Vec<Line> {
        if !self.pending.is_empty() && !self.pending.ends_with('\n') {
            self.pending.push('\n');
        }
        let mut out = Vec::new();
        while self.step(width, &mut out) {}
        self.flush(self.pending.len(), width, &mut out);
        if self.fence.take().is_some() {
            self.emit(Line::new("```", Face::DIM), &mut out);
        }
        *self = Self::default();
        out
    }

    /// Returns the lines that are not final, as they are so far.
    pub(crate) fn rest(&self, width: usize) -> Vec<Line> {
        if self.pending.trim().is_empty() {
            return Vec::new();
        }
        let mut out = Vec::new();
        if self.is_gap && self.has_lines {
            out.push(Line::default());
        }
        match &self.fence {
            Some(fence) => {
                let mut highlighter = fence.highlighter.clone();
                out.extend(self.pending.lines().map(|line| highlighter.line(line)));
            }
            None => out.extend(block::render(&self.pending, width)),
        }
        out
    }

    /// Looks at the next line; returns whether there was one.
    fn step(&mut self, width: usize, out: &mut Vec<Line>) -> bool {
        let from = self.scanned + self.searched;
        let Some(end) = self.pending[from..].find('\n').map(|at| from + at) else {
            self.searched = self.pending.len() - self.scanned;
            return false;
        };
        let next = end + 1;
        let line = self.pending[self.scanned..end].to_owned();
        if let Some(fence) = &mut self.fence {
            let trimmed = line.trim();
            let is_end = trimmed.len() >= fence.length && trimmed.chars().all(|it| it == fence.marker);
            let shown = if is_end { Line::new("```", Face::DIM) } else { fence.highlighter.line(&line) };
            if is_end {
                self.fence = None;
            }
            self.emit(shown, out);
            self.drop_until(next);
            return true;
        }
        if line.trim().is_empty() {
            return self.blank(next, width, out);
        }
        if let Some((marker, length, language)) = opens_fence(&line) {
            self.flush(self.scanned, width, out);
            self.fence = Some(Fence { marker, length, highlighter: code::Highlighter::new(language) });
            self.emit(Line::new(&format!("```{language}"), Face::DIM), out);
            let next = self.pending.find('\n').map_or(self.pending.len(), |at| at + 1);
            self.drop_until(next);
            return true;
        }
        let is_item = is_item(&line);
        if self.scanned > 0 && (is_heading(&line) || is_item && is_item_at_start(&self.pending)) {
            self.flush(self.scanned, width, out);
            return true;
        }
        if is_heading(&line) {
            if self.has_lines {
                self.is_gap = true;
            }
            self.flush(next, width, out);
            self.is_gap = true;
            return true;
        }
        self.pass(next);
        true
    }

    /// Handles a blank line: it ends a block, unless the next line belongs to an item of a list.
    fn blank(&mut self, next: usize, width: usize, out: &mut Vec<Line>) -> bool {
        if self.scanned == 0 {
            self.is_gap = self.is_gap || self.has_lines;
            self.drop_until(next);
            return true;
        }
        let Some(after) = self.pending[next..].chars().next() else {
            return false;
        };
        match after {
            '\n' => self.pass(next),
            ' ' | '\t' if is_item_at_start(&self.pending) => self.pass(next),
            _ => {
                self.flush(self.scanned, width, out);
                self.is_gap = true;
            }
        }
        true
    }

    fn pass(&mut self, next: usize) {
        (self.scanned, self.searched) = (next, 0);
    }

    fn drop_until(&mut self, end: usize) {
        self.pending.drain(..end);
        (self.scanned, self.searched) = (0, 0);
    }

    /// Makes the beginning of the pending text final.
    fn flush(&mut self, end: usize, width: usize, out: &mut Vec<Line>) {
        let block = self.pending[..end].to_owned();
        self.drop_until(end);
        if block.trim().is_empty() {
            return;
        }
        for line in block::render(&block, width) {
            self.emit(line, out);
        }
        self.is_gap |= block.ends_with("\n\n");
    }

    fn emit(&mut self, line: Line, out: &mut Vec<Line>) {
        if std::mem::take(&mut self.is_gap) && self.has_lines {
            out.push(Line::default());
        }
        self.has_lines = true;
        out.push(line);
    }

    /// Splits a block that is too long to be parsed again and again.
    fn split_long(&mut self, width: usize, out: &mut Vec<Line>) {
        let limit = floor(&self.pending, MAX_BLOCK);
        if let Some(fence) = &mut self.fence {
            let shown = fence.highlighter.line(&self.pending[..limit]);
            self.emit(shown, out);
            return self.drop_until(limit);
        }
        let head = &self.pending[..limit];
        let at = head.rfind('\n').or_else(|| head.rfind(' ')).map_or(limit, |at| at + 1);
        self.flush(at, width, out);
    }
}

/// Returns the greatest boundary of a character up to there.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn opens_fence(line: &str) -> Option<(char, usize, &str)> {
    let text = line.trim_start();
    let marker = text.chars().next().filter(|it| matches!(it, '`' | '~'))?;
    let length = text.chars().take_while(|it| *it == marker).count();
    let info = text[length..].trim();
    let is_fence = length >= 3 && !(marker == '`' && info.contains('`'));
    is_fence.then(|| (marker, length, info.split_whitespace().next().unwrap_or_default()))
}

fn is_heading(line: &str) -> bool {
    let marks = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&marks) && line[marks..].starts_with(' ')
}

fn is_item_at_start(text: &str) -> bool {
    text.lines().next().is_some_and(is_item)
}

/// Returns whether the line begins an item of a list that is not inside another one.
fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => line.strip_prefix(['-', '*', '+']),
        1..=9 => line[digits..].strip_prefix(['.', ')']),
        _ => None,
    };
    rest.is_some_and(|rest| rest.starts_with(' '))
}

#[cfg(test)]
mod tests;
