//! Plays the body of a plan: waits, sends, and ends as planned.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::plan::{Chunk, End};

/// A response body that follows a plan.
pub(super) struct PlannedBody {
    chunks: VecDeque<Chunk>,
    end: End,
    reset: Arc<AtomicBool>,
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
    sleep: Option<Pin<Box<Sleep>>>,
    has_flushed: bool,
}

impl PlannedBody {
    pub(super) fn new(chunks: Vec<Chunk>, end: End, reset: Arc<AtomicBool>, stop: CancellationToken) -> Self {
        Self {
            chunks: chunks.into(),
            end,
            reset,
            stopped: Box::pin(stop.cancelled_owned()),
            sleep: None,
            has_flushed: false,
        }
    }

    /// Ready when the delay before the next chunk is over.
    fn poll_pause(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(chunk) = self.chunks.front() else {
            return Poll::Ready(());
        };
        if chunk.after.is_zero() {
            return Poll::Ready(());
        }
        let pause = chunk.after;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + pause)));
        let poll = sleep.as_mut().poll(context);
        if poll.is_ready() {
            self.sleep = None;
        }
        poll
    }

    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.end {
            End::Complete => Poll::Ready(None),
            End::Hang => Poll::Pending,
            End::Close | End::Reset => {
                if !self.has_flushed {
                    // An error makes hyper drop unwritten bytes; yielding once lets it write them first.
                    self.has_flushed = true;
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                self.reset.store(self.end == End::Reset, Ordering::Relaxed);
                Poll::Ready(Some(Err(io::Error::other("the script cuts the connection here"))))
            }
        }
    }
}

impl Body for PlannedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        if self.poll_pause(context).is_pending() {
            return self.poll_stopped(context);
        }
        if let Some(chunk) = self.chunks.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(chunk.bytes))));
        }
        match self.poll_end(context) {
            Poll::Pending => self.poll_stopped(context),
            ready @ Poll::Ready(_) => ready,
        }
    }
}

impl PlannedBody {
    /// Stopping the server ends any wait.
    fn poll_stopped(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.stopped.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => Poll::Ready(Some(Err(io::Error::other("the server stops")))),
        }
    }
}
