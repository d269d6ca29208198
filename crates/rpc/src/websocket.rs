//! A connection over WebSocket: one frame per message, as client or as server. No TLS.
//!
//! Unlike a pair of pipes it cannot be half closed: when one side closes, it no longer gets what the other side has not written yet.
//! The caller of [`accept_websocket`] decides which clients may connect.

mod shared;
mod sink;
mod source;

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config, client_async_with_config};

use crate::pump;
use crate::{Connection, Error, Limits};
use shared::Shared;
use sink::WebSocketSink;
use source::WebSocketSource;

/// The limits and timeouts of a WebSocket connection.
#[derive(Debug, Clone, Copy)]
pub struct WebSocketOptions {
    /// The limits of the connection; `line` is the maximum length of a message with all its fragments.
    pub limits: Limits,
    /// The timeout of connecting and the handshake together; 10 s by default.
    pub handshake: Duration,
    /// The interval of pings; 20 s by default.
    pub ping_every: Duration,
    /// How long a peer may send nothing, not even an answer to a ping, or take nothing before it is disconnected; 1 min by default.
    pub silence: Duration,
}

impl Default for WebSocketOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            handshake: Duration::from_secs(10),
            ping_every: Duration::from_secs(20),
            silence: Duration::from_mins(1),
        }
    }
}

/// The HTTP request with which a client asks for a connection.
#[derive(Debug, Clone, Copy)]
pub struct Upgrade<'a>(&'a Request);

impl Upgrade<'_> {
    /// Returns the path and query.
    pub fn path(&self) -> &str {
        self.0.uri().path_and_query().map_or("/", |path| path.as_str())
    }

    /// Returns a header, such as `host` or `origin`, if it is there exactly once and is plain text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.0.headers().get_all(name).iter();
        let value = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(value)
    }

    /// Returns how often a header is there. [`header`](Self::header) returns `None` for a client that sends two origins.
    pub fn count(&self, name: &str) -> usize {
        self.0.headers().get_all(name).iter().count()
    }
}

/// The decision on an [`Upgrade`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Accept the client.
    Admit,
    /// Answer 403 Forbidden.
    Forbid,
}

/// Connects to a `ws://` address.
pub async fn connect_websocket(url: &str, options: WebSocketOptions) -> Result<Connection, Error> {
    let (host, port) = host_and_port(url).map_err(|source| Error::Connect { url: url.to_owned(), source })?;
    let stream = async {
        let stream = TcpStream::connect((host.as_str(), port)).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    handshake(url, options, stream).await
}

/// Connects over a byte stream that is connected already, such as a Unix socket or TLS. `url` is what the handshake names.
pub async fn connect_websocket_over<S>(
    stream: S,
    url: &str,
    options: WebSocketOptions,
) -> Result<Connection, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    handshake(url, options, std::future::ready(Ok(stream))).await
}

async fn handshake<S>(
    url: &str,
    options: WebSocketOptions,
    stream: impl Future<Output = Result<S, Reason>>,
) -> Result<Connection, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let failed = |source| Error::Connect { url: url.to_owned(), source };
    let connecting = async {
        let (socket, _response) = client_async_with_config(url, stream.await?, Some(config(options))).await?;
        Ok(socket)
    };
    match timeout(options.handshake, connecting).await {
        Ok(Ok(socket)) => Ok(start(socket, options)),
        Ok(Err(error)) => Err(failed(error)),
        Err(elapsed) => Err(failed(elapsed.into())),
    }
}

/// Accepts a client on a byte stream, if `admit` does.
pub async fn accept_websocket<S>(
    stream: S,
    options: WebSocketOptions,
    admit: impl FnOnce(Upgrade<'_>) -> Admission + Unpin,
) -> Result<Connection, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    #[expect(clippy::result_large_err, reason = "the signature of the library's callback")]
    let check = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        match admit(Upgrade(request)) {
            Admission::Admit => Ok(response),
            Admission::Forbid => {
                let mut refusal = ErrorResponse::new(None);
                *refusal.status_mut() = StatusCode::FORBIDDEN;
                Err(refusal)
            }
        }
    };
    let accepting = accept_hdr_async_with_config(stream, check, Some(config(options)));
    match timeout(options.handshake, accepting).await {
        Ok(Ok(socket)) => Ok(start(socket, options)),
        Ok(Err(error)) => Err(Error::Accept { source: error.into() }),
        Err(elapsed) => Err(Error::Accept { source: elapsed.into() }),
    }
}

fn start<S>(socket: WebSocketStream<S>, options: WebSocketOptions) -> Connection
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shared = Shared::new(socket);
    // the reader finds the reason to close a connection, the writer sends it
    let (close, close_with) = watch::channel::<Option<CloseCode>>(None);
    let source = WebSocketSource::new(shared.clone(), close, options);
    let sink = WebSocketSink::new(shared, close_with, options);
    pump::start(source, sink, options.limits)
}

fn config(options: WebSocketOptions) -> WebSocketConfig {
    let limit = Some(options.limits.line);
    WebSocketConfig::default().max_message_size(limit).max_frame_size(limit).read_buffer_size(16 * 1024)
}

type Reason = Box<dyn std::error::Error + Send + Sync>;

fn host_and_port(url: &str) -> Result<(String, u16), Reason> {
    let request = url.into_client_request()?;
    let uri = request.uri();
    if uri.scheme_str() != Some("ws") {
        return Err("only ws:// addresses are supported".into());
    }
    let host = uri.host().ok_or("the address has no host")?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    Ok((host.to_owned(), uri.port_u16().unwrap_or(80)))
}
