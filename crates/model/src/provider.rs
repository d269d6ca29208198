//! The one thing an engine asks for: a stream of events for a request. Who answers is a value behind a trait.

use std::fmt;
use std::pin::Pin;

use futures_util::Stream;

use crate::{ModelError, ModelEvent, Request};

/// The events of one answer. Dropping it ends the call.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;

/// A model that can be asked: over HTTP, or in process.
///
/// One call is one attempt: see [`with_retries`](crate::with_retries) for more. Nothing happens before the stream is polled,
/// and after [`ModelEvent::Finish`] or an error it ends.
pub trait Provider: fmt::Debug + Send + Sync {
    /// Asks once.
    fn stream(&self, request: Request) -> EventStream;
}
