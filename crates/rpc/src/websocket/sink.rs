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

    /// Limits a write to the time that a peer may take no bytes.
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

    async fn send_close(&self) -> Result<(), Closed> {
        match self.send(Message::Close(None)).await {
            // the peer closed first
            Err(Closed::Ended) => Ok(()),
            other => other,
        }
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

    async fn close(self) -> Result<(), Closed> {
        self.send_close().await
    }

    async fn due(&mut self) {
        tokio::select! {
            () = sleep_until(self.next_ping) => {}
            // fails when the reader has ended, which `act` checks
            _ = self.close_with.wait_for(Option::is_some) => {}
        }
    }

    async fn act(&mut self) -> Result<(), Closed> {
        let close_with = *self.close_with.borrow();
        if let Some(code) = close_with {
            self.send(Message::Close(Some(CloseFrame { code, reason: "".into() }))).await?;
            return Err(Closed::Local);
        }
        if self.close_with.has_changed().is_err() {
            // the reader has ended: the peer has closed, which ends both directions, or the receiver was dropped
            return self.send_close().await.and(Err(Closed::Local));
        }
        self.next_ping = Instant::now() + self.ping_every;
        self.send(Message::Ping(Bytes::new())).await
    }
}
