//! The `Provider` trait: a model that answers a request with a stream of events.

use std::fmt;
use std::pin::Pin;

use futures_util::Stream;

use crate::{ModelError, ModelEvent, Request};

/// The events of one answer. Dropping the stream ends the call.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;

/// A model that can be called, over HTTP or in process.
///
/// Each call is one attempt; [`with_retries`](crate::with_retries) makes several. The request is sent when the stream is first
/// polled. The stream ends after [`ModelEvent::Finish`] or an error.
pub trait Provider: fmt::Debug + Send + Sync {
    /// Makes one call.
    fn stream(&self, request: Request) -> EventStream;
}
