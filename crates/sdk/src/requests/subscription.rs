//! A bounded subscription to the requests that no turn takes.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc;

use super::PendingRequest;

/// The maximum number of requests that wait for the reader; further ones are denied.
pub(crate) const MAX_WAITING: usize = 64;

/// A subscription to the requests of a session that no turn takes: those of subagents in the background, and those of turns that do not
/// [ask on their stream](crate::Prompt::ask_on_stream). Ends with the session.
///
/// At most 64 requests wait for the reader; further ones are denied. See [`Session::requests`](crate::Session::requests).
#[derive(Debug)]
pub struct Requests {
    receiver: mpsc::Receiver<PendingRequest>,
}

impl Requests {
    pub(crate) fn new(receiver: mpsc::Receiver<PendingRequest>) -> Self {
        Self { receiver }
    }

    /// Returns the next request, or `None` when the session has ended or another subscription took this one's place.
    ///
    /// Cancel-safe: no request is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<PendingRequest> {
        self.receiver.recv().await
    }
}

impl Stream for Requests {
    type Item = PendingRequest;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context)
    }
}
