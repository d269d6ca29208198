//! Splits a byte stream into lines, with a limit that holds while reading. No IO.
//!
//! Every byte is looked at once, wherever the stream is cut, and of a line beyond the limit nothing but its beginning is kept.

/// The longest line we read unless told otherwise.
pub const DEFAULT_LINE_LIMIT: usize = 16 * MIB;
/// The longest line one may ask for.
pub const MAX_LINE_LIMIT: usize = 64 * MIB;

/// How much of a too long line is kept, for the error message.
const BEGINNING: usize = 1024;
/// How much memory is kept for the next line; more than that is given back.
const SPARE: usize = 64 * 1024;
const MIB: usize = 1024 * 1024;

/// Collects bytes and hands out whole lines.
///
/// ```
/// use musher_rpc::{Line, LineSplitter};
///
/// let mut lines = Vec::new();
/// let mut splitter = LineSplitter::new(5);
/// splitter.push(b"one\r\n\ntw", |line| lines.push(format!("{line:?}")));
/// splitter.push(b"o\nthree and four\nend", |line| lines.push(format!("{line:?}")));
/// splitter.finish(|line| lines.push(format!("{line:?}")));
/// assert_eq!(lines, [r#"Whole("one")"#, r#"Whole("two")"#, r#"TooLong("three")"#, r#"Whole("end")"#]);
/// ```
#[derive(Debug)]
pub struct LineSplitter {
    limit: usize,
    /// The line so far, as long as its end has not come. Never holds a line feed.
    partial: Vec<u8>,
    is_discarding: bool,
}

/// A line without its end, and never a blank one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line within the limit.
    Whole(&'a [u8]),
    /// The beginning of a line beyond the limit. It is reported as soon as it is known to be too long.
    TooLong(&'a [u8]),
}

impl LineSplitter {
    /// A splitter for lines of up to `limit` bytes, line end not counted; at most [`MAX_LINE_LIMIT`].
    pub fn new(limit: usize) -> Self {
        Self { limit: limit.min(MAX_LINE_LIMIT), partial: Vec::new(), is_discarding: false }
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// How much memory the unfinished line holds at the moment.
    pub fn capacity(&self) -> usize {
        self.partial.capacity()
    }

    /// Takes the next bytes of the stream and hands out the lines they complete, in order.
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.complete(&rest[..end], &mut take);
            rest = &rest[end + 1..];
        }
        self.keep(rest, &mut take);
    }

    /// Hands out the last line, if the stream ended without a line feed.
    pub fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        self.complete(&[], &mut take);
    }

    /// Ends the current line with `bytes`.
    fn complete(&mut self, bytes: &[u8], take: &mut impl FnMut(Line<'_>)) {
        if self.is_discarding {
            self.is_discarding = false;
        } else if self.partial.is_empty() {
            self.hand_out(bytes, take);
        } else {
            self.keep(bytes, take);
            if self.is_discarding {
                self.is_discarding = false;
            } else {
                let line = std::mem::take(&mut self.partial);
                self.hand_out(&line, take);
                self.reuse(line);
            }
        }
    }

    /// Adds `bytes` to the current line, or gives the line up.
    fn keep(&mut self, bytes: &[u8], take: &mut impl FnMut(Line<'_>)) {
        let Some(last) = bytes.last() else { return };
        if self.is_discarding {
            return;
        }
        let length = self.partial.len() + bytes.len();
        // a carriage return may turn out to belong to the line end
        if length - usize::from(*last == b'\r') > self.limit {
            let missing = self.beginning().saturating_sub(self.partial.len()).min(bytes.len());
            self.partial.extend_from_slice(&bytes[..missing]);
            take(Line::TooLong(&self.partial[..self.beginning()]));
            self.partial = Vec::new();
            self.is_discarding = true;
            return;
        }
        if length > self.partial.capacity() {
            // doubling, but never beyond what the longest line needs
            let wanted = (2 * self.partial.capacity()).clamp(length, self.limit.max(length) + 1);
            self.partial.reserve_exact(wanted - self.partial.len());
        }
        self.partial.extend_from_slice(bytes);
    }

    fn hand_out(&self, line: &[u8], take: &mut impl FnMut(Line<'_>)) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > self.limit {
            take(Line::TooLong(&line[..self.beginning()]));
        } else if !line.iter().all(u8::is_ascii_whitespace) {
            take(Line::Whole(line));
        }
    }

    fn reuse(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() <= SPARE {
            buffer.clear();
            self.partial = buffer;
        }
    }

    fn beginning(&self) -> usize {
        BEGINNING.min(self.limit)
    }
}

impl std::fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(line) => f.debug_tuple("Whole").field(&String::from_utf8_lossy(line)).finish(),
            Self::TooLong(line) => f.debug_tuple("TooLong").field(&String::from_utf8_lossy(line)).finish(),
        }
    }
}

#[cfg(test)]
mod tests;
