//! An HTTP response as data: which bytes are sent when, and how the response ends.
//!
//! The pure half of the crate ends here; `server` only plays plans.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

/// An HTTP response and its timing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// The delay before the status line.
    pub delay: Duration,
    /// The HTTP status; `None` if nothing is ever sent.
    pub status: Option<u16>,
    /// The headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub chunks: Vec<Chunk>,
    /// What follows the last chunk.
    pub end: End,
}

/// Bytes of a body and the delay before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The delay.
    pub after: Duration,
    /// The bytes.
    pub bytes: Bytes,
}

/// How a response ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// Normally.
    Complete,
    /// The connection is closed before the body is complete.
    Close,
    /// The connection is reset.
    Reset,
    /// Nothing more is sent, until the client disconnects.
    Hang,
}

impl Plan {
    /// Creates a response with a JSON body, sent at once.
    pub fn json(status: u16, body: &Value) -> Self {
        let bytes = Bytes::from(body.to_string());
        Self {
            delay: Duration::ZERO,
            status: Some(status),
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("content-length", bytes.len().to_string()),
            ],
            chunks: vec![Chunk { after: Duration::ZERO, bytes }],
            end: End::Complete,
        }
    }

    /// Creates a response with server-sent events.
    pub(crate) fn event_stream(events: SseStream) -> Self {
        Self {
            delay: Duration::ZERO,
            status: Some(200),
            headers: vec![
                ("content-type", "text/event-stream; charset=utf-8".to_owned()),
                ("cache-control", "no-cache".to_owned()),
            ],
            chunks: events.chunks,
            end: events.end,
        }
    }

    /// Creates a response that never sends anything, not even a status.
    pub(crate) fn silence() -> Self {
        Self { delay: Duration::ZERO, status: None, headers: Vec::new(), chunks: Vec::new(), end: End::Hang }
    }

    pub(crate) fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Breaks off a JSON answer: half of it, or nothing, is sent.
    pub(crate) fn broken_off(mut self, end: End) -> Self {
        if end == End::Hang {
            self.chunks.clear();
        }
        for chunk in &mut self.chunks {
            chunk.bytes.truncate(chunk.bytes.len() / 2);
        }
        self.end = end;
        self
    }

    /// Returns the whole body as text, for tests and recordings of streams.
    pub fn text(&self) -> String {
        self.chunks.iter().map(|chunk| String::from_utf8_lossy(&chunk.bytes).into_owned()).collect()
    }
}

/// Builds a stream of server-sent events; `wait` delays the next event.
#[derive(Debug)]
pub(crate) struct SseStream {
    chunks: Vec<Chunk>,
    wait: Duration,
    end: End,
}

impl SseStream {
    pub(crate) fn new() -> Self {
        Self { chunks: Vec::new(), wait: Duration::ZERO, end: End::Complete }
    }

    pub(crate) fn wait(&mut self, duration: Duration) {
        self.wait = self.wait.saturating_add(duration);
    }

    /// Adds a data-only event, as in chat completions.
    pub(crate) fn data(&mut self, data: &str) {
        self.push(format!("data: {data}\n\n"));
    }

    /// Adds a named event, as in the other two formats.
    pub(crate) fn event(&mut self, name: &str, data: &Value) {
        self.push(format!("event: {name}\ndata: {data}\n\n"));
    }

    pub(crate) fn end(&mut self, end: End) {
        if !self.wait.is_zero() {
            // waits without sending anything
            self.push(String::new());
        }
        self.end = end;
    }

    fn push(&mut self, text: String) {
        let after = std::mem::take(&mut self.wait);
        self.chunks.push(Chunk { after, bytes: Bytes::from(text) });
    }
}
