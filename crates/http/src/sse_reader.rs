//! Reads server-sent events from a response body.

use std::collections::VecDeque;

use crate::{Body, Error, ErrorKind, SseEvent, SseLimits, SseParser};

/// Reads events from a body.
#[derive(Debug)]
pub struct SseReader {
    body: Body,
    parser: SseParser,
    ready: VecDeque<SseEvent>,
    /// How the body ended.
    end: Option<Result<(), Error>>,
}

impl SseReader {
    /// Creates a reader with size limits.
    pub fn new(body: Body, limits: SseLimits) -> Self {
        Self { body, parser: SseParser::new(limits), ready: VecDeque::new(), end: None }
    }

    /// Returns the next event; `None` at the end of the body. Returns all complete events before an error.
    pub async fn next(&mut self) -> Result<Option<SseEvent>, Error> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if let Some(end) = &self.end {
                return end.clone().map(|()| None);
            }
            match self.body.next().await {
                Ok(Some(piece)) => {
                    let mut events = Vec::new();
                    if let Err(overflow) = self.parser.feed(&piece, &mut events) {
                        self.end = Some(Err(Error::because(
                            ErrorKind::TooLarge,
                            "cannot read the events",
                            overflow,
                        )));
                    }
                    self.ready.extend(events);
                }
                Ok(None) => self.end = Some(Ok(())),
                Err(error) => self.end = Some(Err(error)),
            }
        }
    }

    /// Stops reading; see [`Body::finish`].
    pub async fn finish(&mut self) {
        self.end.get_or_insert(Ok(()));
        self.ready.clear();
        self.body.finish().await;
    }
}
