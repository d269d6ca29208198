//! Parser for server-sent events, from bytes in chunks of any size. Does no IO.
//!
//! Follows the WHATWG rules: lines end with CR, LF or both, a line that begins with a colon is a comment, an event ends at an empty
//! line, and lines after the last empty line are not an event. One addition: a block with an `id` or a `retry` but without data is
//! an event as well, because MCP servers send such blocks so that a stream can be resumed. All sizes are bounded while reading.

use std::time::Duration;

use memchr::{memchr, memchr2};

/// Size limits, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseLimits {
    /// Maximum size of a line. Default: 8 MiB.
    pub line: usize,
    /// Maximum size of the data of an event. Default: 16 MiB.
    pub event: usize,
    /// Maximum size of the whole response; `usize::MAX` for an endless stream. Default: 64 MiB.
    pub response: usize,
}

impl Default for SseLimits {
    fn default() -> Self {
        Self { line: 8 << 20, event: 16 << 20, response: 64 << 20 }
    }
}

/// A server-sent event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Name of the event; empty if it has none.
    pub name: String,
    /// Data, lines joined by LF; empty if the event only has an id or a retry delay.
    pub data: String,
    /// Id of the event, if it has one.
    pub id: Option<String>,
    /// Delay before reconnecting if the connection breaks.
    pub retry: Option<Duration>,
}

/// A size limit was exceeded, and reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the response has {what} of more than {limit} bytes")]
pub struct SseOverflow {
    /// The part that is too large: `a line`, `an event` or `a body`.
    pub what: &'static str,
    /// The limit in bytes.
    pub limit: usize,
}

/// Parses bytes into events.
///
/// ```
/// use musher_http::{SseLimits, SseParser};
///
/// let mut parser = SseParser::new(SseLimits::default());
/// let mut events = Vec::new();
/// parser.feed(b"event: greeting\nda", &mut events)?;
/// parser.feed(b"ta: hello\n\n", &mut events)?;
/// assert_eq!((events[0].name.as_str(), events[0].data.as_str()), ("greeting", "hello"));
/// # Ok::<(), musher_http::SseOverflow>(())
/// ```
#[derive(Debug)]
pub struct SseParser {
    limits: SseLimits,
    /// The beginning of a line whose end has not arrived yet.
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// Whether the last byte was CR: a LF that follows belongs to it.
    after_cr: bool,
    at_start: bool,
    taken: usize,
}

impl SseParser {
    /// Creates a parser at the beginning of a response.
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

    /// Parses the next bytes and appends the events that they complete to `events`.
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
            if std::mem::take(&mut self.has_data) || event.id.is_some() || event.retry.is_some() {
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
            // an id with NUL is ignored, as the rules require
            b"id" if !value.contains(&0) => {
                self.event.id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" => {
                let milliseconds = std::str::from_utf8(value).ok().and_then(|text| text.trim().parse().ok());
                self.event.retry = milliseconds.map(Duration::from_millis).or(self.event.retry);
            }
            // comments (no name) and unknown fields
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
