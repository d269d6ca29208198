//! What a connection carries: frames of the droid protocol, or lines that are left as they are.
//!
//! How a message is read from a line, printed to one and weighed stands here; who moves it does not care.

use musher_wire::{Envelope, Extra, Frame, Json, Malformed};

use crate::lines::Line;

/// Something a connection can carry. Only this crate says what that is.
pub trait Message: Sized + Send + std::fmt::Debug + 'static + Sealed {
    /// Reads the message in a line; `limit` is the one of the reader.
    #[doc(hidden)]
    fn from_line(line: Line<'_>, limit: usize) -> Self;
    /// Adds the message to `out`, without a line end.
    #[doc(hidden)]
    fn print_to(&self, out: &mut Vec<u8>);
    /// About how many bytes the message holds.
    #[doc(hidden)]
    fn weight(&self) -> usize;
}

/// Closes [`Message`] to other crates.
pub trait Sealed {}

/// A line as it came or as it shall go, without its end: for dialects other than droid's.
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
    /// The bytes; only the beginning, if the line was beyond the limit.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, to keep.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Whether the line was beyond the limit, so that its rest is lost.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// A line feed would make two lines of one: it is printed as a space, which means the same in JSON.
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

/// How much room more than one line get at once.
const SPARE: usize = 8 * 1024;

/// Lines to be sent as one message, for who has many at once: it costs what one does.
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
    /// Adds a line that is made of these parts. A line feed in it is printed as a space, as in a [`RawLine`].
    pub fn push(&mut self, parts: &[&str]) {
        // one more for what stands between two lines
        let length = 1 + parts.iter().map(|part| part.len()).sum::<usize>();
        if length > self.text.capacity() - self.text.len() {
            // who has a second line has many
            self.text.reserve(if self.is_empty() { length } else { length.max(SPARE) });
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many bytes they are.
    pub fn size(&self) -> usize {
        self.text.len()
    }

    /// Takes them, as one message to send.
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

impl Sealed for RawLine {}

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

    fn weight(&self) -> usize {
        OVERHEAD + self.bytes.len()
    }
}

impl Sealed for Frame {}

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

/// What a message costs besides its text.
const OVERHEAD: usize = 128;
