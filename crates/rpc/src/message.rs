//! The messages of a connection: frames of the droid protocol, or lines that are passed as they are.
//!
//! How a message is read from a line, printed to one, and weighed.

use musher_wire::{Envelope, Extra, Frame, Json, Malformed};

use crate::lines::Line;
use crate::queue::Weigh;

/// A message that a connection can carry. Other crates cannot implement it.
pub trait Message: Sized + Send + std::fmt::Debug + 'static + Weigh {
    /// Reads the message in a line; `limit` is the one of the reader.
    #[doc(hidden)]
    fn from_line(line: Line<'_>, limit: usize) -> Self;
    /// Adds the message to `out`, without a line end.
    #[doc(hidden)]
    fn print_to(&self, out: &mut Vec<u8>);
}

/// A line as it was read or is to be written, without its end: for other protocols than droid's.
///
/// ```
/// use musher_rpc::{Limits, RawLine, lines_over};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), musher_rpc::Closed> {
/// let mut connection = lines_over(&b"hello\n\nworld"[..], tokio::io::sink(), Limits::default());
/// assert_eq!(connection.incoming.recv().await?, RawLine::from("hello".to_owned()));
/// assert_eq!(connection.incoming.recv().await?.bytes(), b"world");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RawLine {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl RawLine {
    /// Returns the bytes; only the beginning, if the line was too long.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns whether the line was too long, so that its rest is lost.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// Replaces line breaks by spaces, which mean the same in JSON: a line break would make two lines of one.
impl From<String> for RawLine {
    fn from(text: String) -> Self {
        let mut bytes = text.into_bytes();
        keep_to_one_line(&mut bytes);
        Self { bytes, is_cut: false }
    }
}

fn keep_to_one_line(text: &mut [u8]) {
    if memchr::memchr2(b'\n', b'\r', text).is_some() {
        text.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
}

/// The minimum growth of the buffer of [`Lines`], from the second line on.
const GROWTH: usize = 8 * 1024;

/// Collects lines and sends them as one message, which costs as much as one line.
///
/// ```
/// let mut lines = musher_rpc::Lines::default();
/// lines.push(&["{\"payload\":", "{\n}", "}"]);
/// lines.push(&["{}"]);
/// assert_eq!(lines.len(), 2);
/// assert_eq!(lines.take().bytes(), b"{\"payload\":{ }}\n{}");
/// assert!(lines.is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Lines {
    text: Vec<u8>,
    count: usize,
}

impl Lines {
    /// Adds a line made of these parts. Line breaks in it become spaces, as in a [`RawLine`].
    pub fn push(&mut self, parts: &[&str]) {
        // one more for the line feed between two lines
        let length = 1 + parts.iter().map(|part| part.len()).sum::<usize>();
        if length > self.text.capacity() - self.text.len() {
            // after a second line there are usually many more
            self.text.reserve(if self.is_empty() { length } else { length.max(GROWTH) });
        }
        if !self.is_empty() {
            self.text.push(b'\n');
        }
        self.count += 1;
        let start = self.text.len();
        for part in parts {
            self.text.extend_from_slice(part.as_bytes());
        }
        keep_to_one_line(&mut self.text[start..]);
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of bytes.
    pub fn size(&self) -> usize {
        self.text.len()
    }

    /// Takes all lines as one message to send.
    pub fn take(&mut self) -> RawLine {
        RawLine { bytes: std::mem::take(self).text, is_cut: false }
    }
}

impl std::fmt::Debug for RawLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = String::from_utf8_lossy(&self.bytes);
        f.debug_struct("RawLine").field("text", &text).field("is_cut", &self.is_cut).finish()
    }
}

impl Message for RawLine {
    fn from_line(line: Line<'_>, _limit: usize) -> Self {
        match line {
            Line::Whole(bytes) => Self { bytes: bytes.to_vec(), is_cut: false },
            Line::TooLong(beginning) => Self { bytes: beginning.to_vec(), is_cut: true },
        }
    }

    fn print_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes);
    }
}

impl Weigh for RawLine {
    fn weight(&self) -> usize {
        OVERHEAD + self.bytes.len()
    }
}

impl Message for Frame {
    fn from_line(line: Line<'_>, limit: usize) -> Self {
        match line {
            Line::Whole(line) => Self::parse(line),
            Line::TooLong(beginning) => Self::Malformed(Malformed::too_long(limit, beginning)),
        }
    }

    fn print_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.to_line().as_bytes());
    }
}

impl Weigh for Frame {
    fn weight(&self) -> usize {
        let json = |json: &Json| json.text().len();
        let maybe = |value: &Option<Json>| value.as_ref().map_or(0, json);
        let extra = |extra: &Extra| extra.iter().map(|(key, value)| key.len() + json(value)).sum::<usize>();
        let envelope = |it: &Envelope| maybe(&it.meta) + extra(&it.extra);
        OVERHEAD
            + match self {
                Self::Request(it) => maybe(&it.params) + envelope(&it.envelope),
                Self::Notification(it) => maybe(&it.params) + envelope(&it.envelope),
                Self::Response(it) => match &it.outcome {
                    Ok(result) => json(result) + envelope(&it.envelope),
                    Err(error) => error.message.len() + maybe(&error.data) + envelope(&it.envelope),
                },
                Self::Malformed(it) => it.raw.len(),
            }
    }
}

/// The size of a message besides its text, in bytes.
const OVERHEAD: usize = 128;
