//! A turn: one prompt and all that follows until the agent is idle.

mod dialect;
mod events;
mod log;
mod queue;
mod tracker;

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio_util::sync::CancellationToken;

pub(crate) use dialect::Dialect;
pub(crate) use log::TurnLog;
pub(crate) use queue::{Receiver, Sender, queue};
pub(crate) use tracker::{Expectation, Tracker};

use crate::session::Handle;
use crate::{Error, Event, Result, TurnResult};

/// A running turn: a stream of [`Event`]s that always ends, with [`Event::Result`] or with an error.
///
/// Dropping it interrupts the turn. To stop it and still see the rest, use [`Turn::cancel_token`].
///
/// ```no_run
/// # async fn example() -> musher::Result<()> {
/// use musher::{Event, Session};
///
/// let session = Session::builder().cwd("/workspace").open().await?;
/// let mut turn = session.send("Explain recursion.").partial().start().await?;
/// while let Some(event) = turn.next().await {
///     match event? {
///         Event::TextDelta(delta) => print!("{}", delta.text),
///         Event::Result(result) => println!("\n{} ms", result.duration.as_millis()),
///         _ => {}
///     }
/// }
/// session.close().await
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a turn that is dropped is interrupted"]
pub struct Turn {
    pub(crate) id: String,
    pub(crate) events: Receiver,
    pub(crate) cancel: CancellationToken,
    pub(crate) result: Option<Box<TurnResult>>,
    pub(crate) is_over: bool,
    /// Keeps the session alive while the turn runs.
    pub(crate) _session: Handle,
}

impl Turn {
    /// Returns the id of the turn, which is also the id of the message that began it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the next event, or `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<Event>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Returns a token that interrupts the turn when it is cancelled. The stream still runs to its end, and the result says so.
    pub fn cancel_token(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Interrupts the turn, and waits for its end.
    pub async fn interrupt(self) -> Result<TurnResult> {
        self.cancel.cancel();
        self.finish().await
    }

    /// Reads the turn to its end, and returns its result.
    pub async fn finish(mut self) -> Result<TurnResult> {
        while let Some(event) = self.next().await {
            event?;
        }
        match self.result.take() {
            Some(result) => Ok(*result),
            None => Err(Error::session("the turn ended without a result")),
        }
    }
}

impl Stream for Turn {
    type Item = Result<Event>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let polled = self.events.poll_next(context);
        match &polled {
            Poll::Ready(Some(Ok(Event::Result(result)))) => {
                self.result = Some(result.clone());
                self.is_over = true;
            }
            Poll::Ready(Some(Err(_)) | None) => self.is_over = true,
            Poll::Ready(Some(Ok(_))) | Poll::Pending => {}
        }
        polled
    }
}
