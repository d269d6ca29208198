//! Server-sent events out of bytes, however these are cut into chunks. Does no IO.
//!
//! Follows the WHATWG rules: lines end with CR, LF or both, a line that begins with a colon is a comment, an event is over at
//! an empty line. What comes after the last empty line is no event. Everything is bounded while it is read.

use memchr::{memchr, memchr2};

/// How much is taken, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseLimits {
    /// Of one line.
    pub line: usize,
    /// Of the data of one event.
    pub event: usize,
    /// Of the whole response.
    pub response: usize,
}

impl Default for SseLimits {
    fn default() -> Self {
        Self { line: 8 << 20, event: 16 << 20, response: 64 << 20 }
    }
}

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its data; the lines of it are joined with LF.
    pub data: String,
}

/// A limit was exceeded; nothing more is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the answer has {what} of more than {limit} bytes")]
pub struct SseOverflow {
    /// What is too large.
    pub what: &'static str,
    /// The limit it exceeds.
    pub limit: usize,
}

/// Takes bytes, gives events.
///
/// ```
/// use musher_model::{SseLimits, SseParser};
///
/// let mut parser = SseParser::new(SseLimits::default());
/// let mut events = Vec::new();
/// parser.feed(b"event: greeting\nda", &mut events)?;
/// parser.feed(b"ta: hello\n\n", &mut events)?;
/// assert_eq!((events[0].name.as_str(), events[0].data.as_str()), ("greeting", "hello"));
/// # Ok::<(), musher_model::SseOverflow>(())
/// ```
#[derive(Debug)]
pub struct SseParser {
    limits: SseLimits,
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// The last byte was CR: a LF that follows belongs to it.
    after_cr: bool,
    at_start: bool,
    taken: usize,
}

impl SseParser {
    /// A parser at the beginning of a response.
    pub fn new(limits: SseLimits) -> Self {
        Self {
            limits,
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            after_cr: false,
            at_start: true,
            taken: 0,
        }
    }

    /// Takes the next bytes and adds the events they complete to `events`.
    pub fn feed(&mut self, mut bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), SseOverflow> {
        self.taken = self.taken.saturating_add(bytes.len());
        if self.taken > self.limits.response {
            return Err(SseOverflow { what: "a body", limit: self.limits.response });
        }
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr2(b'\n', b'\r', bytes) {
            self.check_line(self.line.len() + end)?;
            if self.line.is_empty() {
                self.take_line(&bytes[..end], events)?;
            } else {
                self.line.extend_from_slice(&bytes[..end]);
                let line = std::mem::take(&mut self.line);
                self.take_line(&line, events)?;
            }
            let is_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if is_cr {
                self.after_cr = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.check_line(self.line.len() + bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn check_line(&self, length: usize) -> Result<(), SseOverflow> {
        if length > self.limits.line {
            return Err(SseOverflow { what: "a line", limit: self.limits.line });
        }
        Ok(())
    }

    fn take_line(&mut self, mut line: &[u8], events: &mut Vec<SseEvent>) -> Result<(), SseOverflow> {
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                events.push(event);
            }
            return Ok(());
        }
        let (field, value) = match memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.event.data.len() + value.len() >= self.limits.event {
                    return Err(SseOverflow { what: "an event", limit: self.limits.event });
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(&String::from_utf8_lossy(value));
            }
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            // comments (no name), `id`, `retry` and whatever else there may be
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
