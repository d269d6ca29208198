//! Listeners: accept connections, check them before the upgrade, and limit those that have not authenticated.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use musher_rpc::{Admission, Limits, WebSocketOptions, accept_websocket};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::hub::Hub;
use super::tls::Tls;
use super::{client, http, metrics};
use crate::console;

/// Connections that have not authenticated.
const MAX_UNAUTHENTICATED: usize = 64;
/// How long the head of a request may take.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait after accepting has failed, such as without file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Where a daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A TCP address.
    Tcp(SocketAddr),
    /// A TCP address with TLS.
    Tls(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

/// A text that is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid address `{0}`: expected `HOST:PORT` or `unix:PATH`")]
pub struct AddressError(String);

impl Address {
    /// Parses `127.0.0.1:PORT`, `localhost:PORT` or `unix:PATH`.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError(text.to_owned());
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() { Err(wrong()) } else { Ok(Self::Unix(PathBuf::from(path))) };
        }
        if let Ok(address) = text.parse() {
            return Ok(Self::Tcp(address));
        }
        let mut found = text.to_socket_addrs().map_err(|_invalid| wrong())?;
        found.next().map(Self::Tcp).ok_or_else(wrong)
    }

    /// Whether only this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) | Self::Tls(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "ws://{address}"),
            Self::Tls(address) => write!(f, "wss://{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A socket that accepts clients.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    address: Address,
    tls: Option<Tls>,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Socket::Unix(_, path) = &self.socket {
            fs_err::remove_file(path).ok();
        }
    }
}

impl Listener {
    /// Listens. The directory of a Unix socket must exist; a socket without a listener is replaced.
    pub async fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) | Address::Tls(address) => {
                let socket = TcpListener::bind(address).await?;
                let address = Address::Tcp(socket.local_addr()?);
                Ok(Self { socket: Socket::Tcp(socket), address, tls: None })
            }
            Address::Unix(path) => {
                let socket = bind_unix(path).await?;
                Ok(Self { socket: Socket::Unix(socket, path.clone()), address: address.clone(), tls: None })
            }
        }
    }

    /// Continues to listen on a socket that this process has kept from the program that it was.
    pub fn adopt(socket: OwnedFd, address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(_) | Address::Tls(_) => {
                let socket = std::net::TcpListener::from(socket);
                socket.set_nonblocking(true)?;
                let address = Address::Tcp(socket.local_addr()?);
                Ok(Self { socket: Socket::Tcp(TcpListener::from_std(socket)?), address, tls: None })
            }
            Address::Unix(path) => {
                let socket = std::os::unix::net::UnixListener::from(socket);
                socket.set_nonblocking(true)?;
                let socket = UnixListener::from_std(socket)?;
                Ok(Self { socket: Socket::Unix(socket, path.clone()), address: address.clone(), tls: None })
            }
        }
    }

    /// Returns the socket, for [`adopt`](Self::adopt).
    pub fn socket(&self) -> io::Result<OwnedFd> {
        match &self.socket {
            Socket::Tcp(socket) => socket.as_fd().try_clone_to_owned(),
            Socket::Unix(socket, _) => socket.as_fd().try_clone_to_owned(),
        }
    }

    /// Accepts only clients with TLS, unless it is a Unix socket.
    #[must_use]
    pub fn with_tls(mut self, tls: Tls) -> Self {
        if let Address::Tcp(address) = self.address {
            self.address = Address::Tls(address);
            self.tls = Some(tls);
        }
        self
    }

    /// Listens on a port of this machine.
    pub(crate) fn bind_loopback(port: u16) -> io::Result<Self> {
        let socket = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, port))?;
        socket.set_nonblocking(true)?;
        let address = Address::Tcp(socket.local_addr()?);
        Ok(Self { socket: Socket::Tcp(TcpListener::from_std(socket)?), address, tls: None })
    }

    /// Returns the address, with the port that was chosen.
    pub fn address(&self) -> &Address {
        &self.address
    }
}

async fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    let is_stale = match fs_err::symlink_metadata(path) {
        Ok(metadata) => {
            use std::os::unix::fs::FileTypeExt as _;
            if !metadata.file_type().is_socket() {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, "exists and is not a socket"));
            }
            tokio::net::UnixStream::connect(path).await.is_err()
        }
        Err(_) => false,
    };
    if is_stale {
        fs_err::remove_file(path)?;
    }
    // bound under another name and renamed when only the user may open it
    let hidden = path.with_extension(format!("{}.new", std::process::id()));
    fs_err::remove_file(&hidden).ok();
    let socket = UnixListener::bind(&hidden)?;
    let published = fs_err::set_permissions(&hidden, std::fs::Permissions::from_mode(0o600))
        .and_then(|()| fs_err::hard_link(&hidden, path));
    fs_err::remove_file(&hidden).ok();
    published.map(|()| socket)
}

/// Accepts clients until the future is dropped.
pub(crate) async fn serve(hub: &Arc<Hub>, listener: Listener) -> io::Result<()> {
    let unauthenticated = Arc::new(Semaphore::new(MAX_UNAUTHENTICATED));
    let mut clients = JoinSet::new();
    if let Address::Tcp(address) = listener.address {
        hub.console.listens(address);
    }
    loop {
        tokio::select! {
            accepted = accept(&listener.socket) => match accepted {
                Ok(stream) => {
                    let Ok(permit) = Arc::clone(&unauthenticated).try_acquire_owned() else {
                        tracing::warn!("too many clients have not authenticated; refused one");
                        hub.metrics.refused_upgrades.add(1);
                        continue;
                    };
                    clients.spawn(connection(Arc::clone(hub), stream, listener.tls.clone(), permit));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = clients.join_next() => {}
        }
    }
}

/// A stream of either kind.
enum Stream {
    Tcp(tokio::net::TcpStream),
    Unix(tokio::net::UnixStream),
}

async fn accept(socket: &Socket) -> io::Result<Stream> {
    match socket {
        Socket::Tcp(socket) => {
            let (stream, _) = socket.accept().await?;
            stream.set_nodelay(true)?;
            Ok(Stream::Tcp(stream))
        }
        Socket::Unix(socket, _) => Ok(Stream::Unix(socket.accept().await?.0)),
    }
}

async fn connection(
    hub: Arc<Hub>,
    stream: Stream,
    tls: Option<Tls>,
    permit: tokio::sync::OwnedSemaphorePermit,
) {
    match (stream, tls) {
        (Stream::Tcp(stream), None) => exchange(hub, stream, false, permit).await,
        (Stream::Tcp(stream), Some(Tls(tls))) => match timeout(HEAD_TIMEOUT, tls.accept(stream)).await {
            Ok(Ok(stream)) => Box::pin(exchange(hub, stream, false, permit)).await,
            Ok(Err(error)) => {
                hub.metrics.refused_upgrades.add(1);
                tracing::debug!(%error, "a client does not speak TLS");
            }
            Err(_late) => hub.metrics.refused_upgrades.add(1),
        },
        (Stream::Unix(stream), _) => exchange(hub, stream, true, permit).await,
    }
}

/// Serves one connection: a plain request, or a WebSocket.
async fn exchange<S>(hub: Arc<Hub>, mut stream: S, is_local: bool, permit: tokio::sync::OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Ok(Ok((head, bytes))) = timeout(HEAD_TIMEOUT, http::read_head(&mut stream)).await else { return };
    let origins = head.all("origin");
    let page = console::kind(&hub.console, &head);
    let is_admitted = match page {
        Some(_) => hub.options.origins.admits_own(head.one("host"), &origins),
        None => hub.options.origins.admits(head.one("host"), &origins, is_local),
    };
    if !is_admitted || (page == Some(console::Kind::Socket) && origins.is_empty()) {
        hub.metrics.refused_upgrades.add(1);
        tracing::warn!(origin = ?origins, host = ?head.one("host"), "refused a connection from another site");
        let answer = http::respond(&mut stream, "403 Forbidden", "text/plain", "forbidden\n");
        timeout(HEAD_TIMEOUT, answer).await.ok();
        return;
    }
    if page == Some(console::Kind::Plain) {
        let answer = console::answer(&hub.console, &head, bytes, &mut stream);
        timeout(HEAD_TIMEOUT, answer).await.ok();
        return;
    }
    if page == Some(console::Kind::Stranger) {
        hub.metrics.failed_logins.add(1);
        let answer = http::respond(&mut stream, "401 Unauthorized", "text/plain", "log in first\n");
        timeout(HEAD_TIMEOUT, answer).await.ok();
        return;
    }
    if !head.is_upgrade() {
        let answer = plain(&hub, &head, &mut stream);
        timeout(HEAD_TIMEOUT, answer).await.ok();
        return;
    }
    let admitted = Arc::new(AtomicBool::new(false));
    let stream = http::Replayed::new(stream, bytes, Arc::clone(&admitted));
    let options = WebSocketOptions { limits: Limits::default(), ..WebSocketOptions::default() };
    match accept_websocket(stream, options, |_| Admission::Admit).await {
        Ok(connection) => {
            // the cookie of a browser was checked before the upgrade
            let is_logged_in = page == Some(console::Kind::Socket);
            client::serve(hub, connection, admitted, permit, is_logged_in).await;
        }
        Err(error) => tracing::debug!(%error, "the handshake with a client failed"),
    }
}

/// Answers a request that is not an upgrade.
async fn plain<S: AsyncWrite + Unpin>(hub: &Hub, head: &http::Head, stream: &mut S) -> io::Result<()> {
    const TEXT: &str = "text/plain; charset=utf-8";
    match (head.method.as_str(), head.path.as_str()) {
        ("GET", "/health") => http::respond(stream, "200 OK", TEXT, "musher-daemon ok\n").await,
        ("GET", "/metrics") if is_authorized(hub, head) => {
            http::respond(stream, "200 OK", "text/plain; version=0.0.4", &metrics::print(hub)).await
        }
        ("GET", "/metrics") => {
            hub.metrics.failed_logins.add(1);
            http::respond(stream, "401 Unauthorized", TEXT, "send the token as `Authorization: Bearer`\n")
                .await
        }
        _ => http::respond(stream, "404 Not Found", TEXT, "not found\n").await,
    }
}

/// Whether a plain request has the token.
fn is_authorized(hub: &Hub, head: &http::Head) -> bool {
    let token = head.one("authorization").and_then(|value| value.strip_prefix("Bearer "));
    token.is_some_and(|token| hub.options.token.matches(token.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_a_socket_address_or_a_path() {
        assert_eq!(Address::parse("127.0.0.1:80").unwrap().to_string(), "ws://127.0.0.1:80");
        assert_eq!(Address::parse("[::1]:80").unwrap().to_string(), "ws://[::1]:80");
        assert_eq!(Address::parse("unix:/run/x.sock").unwrap(), Address::Unix("/run/x.sock".into()));
        assert!(Address::parse("localhost:80").unwrap().is_local());
        assert!(!Address::parse("0.0.0.0:80").unwrap().is_local());
        for wrong in ["", "80", "unix:", "127.0.0.1", "host:port"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }
}
