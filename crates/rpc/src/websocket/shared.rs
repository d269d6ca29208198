//! One WebSocket for two tasks: one reads, the other writes.
//!
//! The library keeps one waker per direction, so each direction belongs to one task.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::{SinkExt, StreamExt};
use std::future::poll_fn;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message};

#[derive(Debug)]
pub(super) struct Shared<S>(Arc<Mutex<WebSocketStream<S>>>);

impl<S: AsyncRead + AsyncWrite + Unpin> Shared<S> {
    pub(super) fn new(socket: WebSocketStream<S>) -> Self {
        Self(Arc::new(Mutex::new(socket)))
    }

    /// Receives the next message. For the task that reads. Loses nothing if dropped.
    pub(super) async fn next(&self) -> Option<Result<Message, Error>> {
        poll_fn(|context| self.lock().poll_next_unpin(context)).await
    }

    /// Reads and discards the rest of the bytes. For the task that reads.
    pub(super) async fn drain(&self) -> io::Result<()> {
        let mut discarded = [0; 4096];
        while poll_fn(|context| self.poll_read_raw(context, &mut discarded)).await? > 0 {}
        Ok(())
    }

    /// Puts a message into the buffer. For the task that writes.
    pub(super) async fn feed(&self, message: Message) -> Result<(), Error> {
        poll_fn(|context| self.lock().poll_ready_unpin(context)).await?;
        self.lock().start_send_unpin(message)
    }

    /// Writes the buffer out. For the task that writes.
    pub(super) async fn flush(&self) -> Result<(), Error> {
        poll_fn(|context| self.lock().poll_flush_unpin(context)).await
    }

    fn poll_read_raw(&self, context: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(into);
        let polled = Pin::new(self.lock().get_mut()).poll_read(context, &mut buffer);
        polled.map_ok(|()| buffer.filled().len())
    }

    /// Locked for one poll, never across an await.
    fn lock(&self) -> MutexGuard<'_, WebSocketStream<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
