//! The reading half: messages to frames, and the reason of the end.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use musher_wire::{Frame, Malformed};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message, error};

use super::WebSocketOptions;
use super::shared::Shared;
use crate::Closed;
use crate::connection::LINGER;
use crate::pump::Source;

#[derive(Debug)]
pub(super) struct WebSocketSource<S> {
    socket: Shared<S>,
    /// Tells the writer to close, and with which code.
    close: watch::Sender<Option<CloseCode>>,
    limit: usize,
    silence: Duration,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocketSource<S> {
    pub(super) fn new(
        socket: Shared<S>,
        close: watch::Sender<Option<CloseCode>>,
        options: WebSocketOptions,
    ) -> Self {
        Self { socket, close, limit: options.limits.line, silence: options.silence }
    }

    /// Waits for the end of the closing handshake, and returns the reason of the peer.
    async fn closed(&self, frame: Option<CloseFrame>) -> Closed {
        let rest = async { while let Some(Ok(_)) = self.socket.next().await {} };
        // the peer has closed, whether it gets our answer or not
        timeout(LINGER, rest).await.ok();
        match frame {
            None => Closed::Ended,
            Some(frame) if matches!(frame.code, CloseCode::Normal | CloseCode::Away | CloseCode::Status) => {
                Closed::Ended
            }
            Some(frame) => {
                Closed::WebSocket { code: frame.code.into(), reason: frame.reason.as_str().into() }
            }
        }
    }

    /// Sends the close code. Discards the rest of the input meanwhile: closing a socket with unread input resets the connection,
    /// and the peer would never see the code.
    async fn hang_up(&self, code: CloseCode) {
        self.close.send_replace(Some(code));
        timeout(LINGER, self.socket.drain()).await.ok();
    }

    async fn failed(&self, error: Error, frames: &mut VecDeque<Frame>) -> Closed {
        match error {
            Error::ConnectionClosed | Error::AlreadyClosed => Closed::Ended,
            Error::Capacity(_) => {
                frames.push_back(Frame::Malformed(Malformed::too_long(self.limit, &[])));
                self.hang_up(CloseCode::Size).await;
                Closed::TooBig { limit: self.limit }
            }
            Error::Io(error) => Closed::from(error),
            Error::Protocol(error::ProtocolError::ResetWithoutClosingHandshake) => {
                Closed::from(io::Error::from(io::ErrorKind::UnexpectedEof))
            }
            Error::Utf8(_) => {
                self.hang_up(CloseCode::Invalid).await;
                Closed::from(io::Error::new(io::ErrorKind::InvalidData, error))
            }
            other => {
                self.hang_up(CloseCode::Protocol).await;
                Closed::from(io::Error::new(io::ErrorKind::InvalidData, other))
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Source for WebSocketSource<S> {
    type Message = Frame;

    async fn fill(&mut self, frames: &mut VecDeque<Frame>) -> Result<(), Closed> {
        let Ok(message) = timeout(self.silence, self.socket.next()).await else {
            self.close.send_replace(Some(CloseCode::Away));
            return Err(Closed::Silent { after: self.silence });
        };
        let bytes = match message {
            Some(Ok(Message::Text(text))) => text.into(),
            Some(Ok(Message::Binary(bytes))) => bytes,
            // the library answers pings; any message shows that the peer is alive
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => return Ok(()),
            Some(Ok(Message::Close(frame))) => return Err(self.closed(frame).await),
            Some(Err(error)) => return Err(self.failed(error, frames).await),
            None => return Err(Closed::Ended),
        };
        if !Frame::is_blank(&bytes) {
            frames.push_back(Frame::parse(&bytes));
        }
        Ok(())
    }
}
