//! The writing half: frames to messages, pings, and the close message.

use std::io;
use std::time::Duration;

use musher_wire::Frame;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

use super::WebSocketOptions;
use super::shared::Shared;
use crate::Closed;
use crate::pump::Sink;

#[derive(Debug)]
pub(super) struct WebSocketSink<S> {
    socket: Shared<S>,
    close_with: watch::Receiver<Option<CloseCode>>,
    ping_every: Duration,
    next_ping: Instant,
    silence: Duration,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocketSink<S> {
    pub(super) fn new(
        socket: Shared<S>,
        close_with: watch::Receiver<Option<CloseCode>>,
        options: WebSocketOptions,
    ) -> Self {
        let WebSocketOptions { ping_every, silence, .. } = options;
        Self { socket, close_with, ping_every, next_ping: Instant::now() + ping_every, silence }
    }

    /// Bounds a write by the time a peer may take nothing.
    async fn within(&self, write: impl Future<Output = Result<(), Error>>) -> Result<(), Closed> {
        match timeout(self.silence, write).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(Error::ConnectionClosed | Error::AlreadyClosed)) => Err(Closed::Ended),
            Ok(Err(Error::Io(error))) => Err(Closed::from(error)),
            Ok(Err(other)) => Err(Closed::from(io::Error::other(other))),
            Err(_elapsed) => Err(Closed::Silent { after: self.silence }),
        }
    }

    async fn send(&self, message: Message) -> Result<(), Closed> {
        self.within(self.socket.feed(message)).await?;
        self.within(self.socket.flush()).await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Sink for WebSocketSink<S> {
    type Message = Frame;

    async fn write(&mut self, frame: Frame) -> Result<(), Closed> {
        self.within(self.socket.feed(Message::text(frame.to_line()))).await
    }

    async fn flush(&mut self) -> Result<(), Closed> {
        self.within(self.socket.flush()).await
    }

    async fn close(&mut self) -> Result<(), Closed> {
        match self.send(Message::Close(None)).await {
            // the peer was faster
            Err(Closed::Ended) => Ok(()),
            other => other,
        }
    }

    async fn due(&mut self) {
        tokio::select! {
            () = sleep_until(self.next_ping) => {}
            // fails when the reader has ended, which `tend` sees too
            _ = self.close_with.wait_for(Option::is_some) => {}
        }
    }

    async fn tend(&mut self) -> Result<(), Closed> {
        let close_with = *self.close_with.borrow();
        if let Some(code) = close_with {
            self.send(Message::Close(Some(CloseFrame { code, reason: "".into() }))).await?;
            return Err(Closed::Local);
        }
        if self.close_with.has_changed().is_err() {
            // nobody reads: either the peer has closed, which ends both directions, or nobody wants to hear it
            return self.close().await.and(Err(Closed::Local));
        }
        self.next_ping = Instant::now() + self.ping_every;
        self.send(Message::Ping(Bytes::new())).await
    }
}
