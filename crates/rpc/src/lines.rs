//! Splits a byte stream into lines, with a limit that is enforced while reading. No IO.
//!
//! Scans every byte once, however the stream is cut, and keeps only the beginning of a line that is too long.

/// The default maximum length of a line, in bytes.
pub const DEFAULT_LINE_LIMIT: usize = 16 * MIB;
/// The highest line limit that can be set, in bytes.
pub const MAX_LINE_LIMIT: usize = 64 * MIB;

/// How many bytes of a too long line are kept, for the error message.
const MAX_BEGINNING: usize = 1024;
/// How many bytes of memory are kept for the next line; a larger buffer is freed.
const MAX_SPARE: usize = 64 * 1024;
const MIB: usize = 1024 * 1024;

/// Collects bytes and passes whole lines on.
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
    /// The beginning of a line whose end has not been read yet. Never contains a line feed.
    partial: Vec<u8>,
    is_discarding: bool,
}

/// A line without its end, and never a blank one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line within the limit.
    Whole(&'a [u8]),
    /// The beginning of a line beyond the limit. It is passed on as soon as the limit is exceeded.
    TooLong(&'a [u8]),
}

impl LineSplitter {
    /// Creates a splitter for lines of up to `limit` bytes without the line end. The limit is at most [`MAX_LINE_LIMIT`].
    pub fn new(limit: usize) -> Self {
        Self { limit: limit.min(MAX_LINE_LIMIT), partial: Vec::new(), is_discarding: false }
    }

    /// Returns the limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns how many bytes of memory are allocated for the partial line.
    pub fn capacity(&self) -> usize {
        self.partial.capacity()
    }

    /// Takes the next bytes of the stream and passes the lines that they complete to `take`, in order.
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.complete(&rest[..end], &mut take);
            rest = &rest[end + 1..];
        }
        self.keep(rest, &mut take);
    }

    /// Passes the last line to `take`, if the stream ended without a line feed.
    pub fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        self.complete(&[], &mut take);
    }

    /// Ends the current line with `bytes`.
    fn complete(&mut self, bytes: &[u8], take: &mut impl FnMut(Line<'_>)) {
        if self.is_discarding {
            self.is_discarding = false;
        } else if self.partial.is_empty() {
            self.emit(bytes, take);
        } else {
            self.keep(bytes, take);
            if self.is_discarding {
                self.is_discarding = false;
            } else {
                let line = std::mem::take(&mut self.partial);
                self.emit(&line, take);
                self.reuse(line);
            }
        }
    }

    /// Adds `bytes` to the current line, or discards the line if it gets too long.
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
            // doubles, but never beyond the limit
            let wanted = (2 * self.partial.capacity()).clamp(length, self.limit.max(length) + 1);
            self.partial.reserve_exact(wanted - self.partial.len());
        }
        self.partial.extend_from_slice(bytes);
    }

    fn emit(&self, line: &[u8], take: &mut impl FnMut(Line<'_>)) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > self.limit {
            take(Line::TooLong(&line[..self.beginning()]));
        } else if !line.iter().all(u8::is_ascii_whitespace) {
            take(Line::Whole(line));
        }
    }

    fn reuse(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() <= MAX_SPARE {
            buffer.clear();
            self.partial = buffer;
        }
    }

    fn beginning(&self) -> usize {
        MAX_BEGINNING.min(self.limit)
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
