//! Connects to a daemon and authenticates. The only module of the client that opens sockets.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use musher_rpc::{Connection, Limits, WebSocketOptions, connect_websocket, connect_websocket_over};
use musher_wire::{AuthenticateParams, Frame, Id, Json, Request, RpcError};
use tokio::time::timeout;
use uuid::Uuid;

use super::address::{Address, Convention, read_token};
use crate::error::Kind;
use crate::{Error, Result};

/// How long the daemon may take to check the credential.
const AUTHENTICATE_TIMEOUT: Duration = Duration::from_secs(30);

/// Where to connect, and with which credential.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) address: Place,
    pub(super) token: Token,
    /// The name of this client.
    pub(super) caller: Arc<str>,
}

/// An address, or how to find it again for each attempt: a daemon that was restarted may be elsewhere.
#[derive(Debug, Clone)]
pub(super) enum Place {
    At(Address),
    By(Convention),
}

/// A credential, or where to read it again for each attempt: a daemon that was restarted may have another one.
#[derive(Clone, Default)]
pub(super) enum Token {
    #[default]
    None,
    Given(String),
    File(PathBuf),
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Given(_) => "Given(...)",
            Self::File(_) => "File",
        })
    }
}

/// A connection that the daemon has accepted.
#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) connection: Connection,
    pub(super) token: Option<String>,
    /// Messages that came before the answer.
    pub(super) early: Vec<Frame>,
}

impl Target {
    pub(super) fn address(&self) -> Address {
        match &self.address {
            Place::At(address) => address.clone(),
            Place::By(convention) => convention.address(),
        }
    }

    fn token(&self) -> Option<String> {
        match &self.token {
            Token::None => None,
            Token::Given(token) => Some(token.clone()),
            Token::File(file) => read_token(file),
        }
    }

    /// Connects and authenticates.
    pub(super) async fn connect(&self) -> Result<Accepted> {
        let address = self.address();
        let connection = open(&address).await?;
        let token = self.token();
        match timeout(AUTHENTICATE_TIMEOUT, self.authenticate(connection, token)).await {
            Ok(accepted) => accepted,
            Err(elapsed) => {
                let what = format!("the answer of the daemon at `{address}`");
                Err(Error::because(Kind::Timeout { what, after: AUTHENTICATE_TIMEOUT }, elapsed))
            }
        }
    }

    async fn authenticate(&self, mut connection: Connection, token: Option<String>) -> Result<Accepted> {
        let params = AuthenticateParams { api_key: token.clone(), ..AuthenticateParams::new(&*self.caller) };
        let id = Id::from(Uuid::new_v4().to_string());
        let params = Json::new(&params).map_err(|error| Error::invalid_input(error.to_string()))?;
        connection
            .outgoing
            .send(Frame::Request(Request::new(id.clone(), "daemon.authenticate", params)))
            .await?;
        let mut early = Vec::new();
        loop {
            match connection.incoming.recv().await? {
                Frame::Response(response) if response.id == id => {
                    return match response.outcome {
                        Ok(_) => Ok(Accepted { connection, token, early }),
                        Err(error) => Err(refused(error)),
                    };
                }
                // an answer that cannot be matched is about the only call there is
                Frame::Response(response) if response.id == Id::Null => {
                    return Err(refused(
                        response
                            .outcome
                            .err()
                            .unwrap_or_else(|| RpcError::new(RpcError::INTERNAL, "an answer without an id")),
                    ));
                }
                frame => early.push(frame),
            }
        }
    }
}

fn refused(source: RpcError) -> Error {
    musher_rpc::Error::Rpc { method: "daemon.authenticate".into(), source }.into()
}

async fn open(address: &Address) -> Result<Connection> {
    // sessions have bounds of their own; a prompt with pictures may be large
    let limits = Limits::default();
    let options = WebSocketOptions { limits, ..WebSocketOptions::default() };
    match address {
        Address::Plain(url) => Ok(connect_websocket(url, options).await?),
        Address::Unix(path) => unix(path, address, options).await,
        Address::Tls(url) => tls(url, options).await,
    }
}

#[cfg(unix)]
async fn unix(path: &std::path::Path, address: &Address, options: WebSocketOptions) -> Result<Connection> {
    let stream = tokio::net::UnixStream::connect(path).await.map_err(|source| {
        Error::from(musher_rpc::Error::Connect { url: address.to_string(), source: source.into() })
    })?;
    // the host is that of every local connection
    Ok(connect_websocket_over(stream, "ws://localhost/", options).await?)
}

#[cfg(not(unix))]
async fn unix(_path: &std::path::Path, _address: &Address, _options: WebSocketOptions) -> Result<Connection> {
    Err(Error::invalid_input("this system has no Unix sockets; use a `ws://` address"))
}

#[cfg(feature = "daemon-tls")]
async fn tls(url: &str, options: WebSocketOptions) -> Result<Connection> {
    let failed = |source| Error::from(musher_rpc::Error::Connect { url: url.to_owned(), source });
    // the same host and port, with TLS
    let https = url.replacen("wss://", "https://", 1);
    let stream =
        musher_http::Client::default().connect(&https).await.map_err(|error| failed(error.into()))?;
    Ok(connect_websocket_over(stream, url, options).await?)
}

#[cfg(not(feature = "daemon-tls"))]
async fn tls(_url: &str, _options: WebSocketOptions) -> Result<Connection> {
    Err(Error::invalid_input("`wss://` needs the feature `daemon-tls`"))
}
