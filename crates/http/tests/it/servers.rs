//! Test servers and proxies on loopback that record requests, and a resolver with fixed names.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use musher_http::{Client, ClientBuilder, Proxies, Resolve, Resolving};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_util::task::AbortOnDropHandle;

/// A running server. Dropping it stops the server.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    task: AbortOnDropHandle<()>,
}

impl TestServer {
    /// Returns the heads of all requests so far, with header names in lower case as sent by hyper.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Stops the server, so that its port is closed.
    pub(crate) async fn end(self) {
        self.task.abort();
        self.task.await.unwrap_err();
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Behavior of a proxy.
#[derive(Clone)]
pub(crate) enum Proxy {
    /// Forwards all requests to this address, regardless of their host.
    To(SocketAddr),
    /// Sends these bytes.
    Sends(Vec<u8>),
    /// Never responds.
    Hangs,
}

/// Formats a response after which the connection is closed.
pub(crate) fn answer(status: &str, more: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{more}\r\n{body}", body.len())
        .into_bytes()
}

/// Starts a server that responds according to the head of the request.
pub(crate) async fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> TestServer {
    serve_on(bound().await, None, answer)
}

/// Starts a server on a listener, with TLS if `tls` is given.
pub(crate) fn serve_on(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
) -> TestServer {
    let answer = Arc::new(answer);
    start(listener, move |stream, heads| {
        let (answer, tls) = (Arc::clone(&answer), tls.clone());
        async move {
            match tls {
                None => reply(stream, &heads, &*answer).await,
                // fails if the client does not trust the certificate
                Some(tls) => reply(tls.accept(stream).await?, &heads, &*answer).await,
            }
        }
    })
}

async fn reply<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    heads: &Mutex<Vec<String>>,
    answer: &(impl Fn(&str) -> Vec<u8> + ?Sized),
) -> io::Result<()> {
    let head = read_head(&mut stream).await?;
    heads.lock().unwrap().push(head.clone());
    stream.write_all(&answer(&head)).await?;
    stream.shutdown().await
}

/// Starts a proxy.
pub(crate) async fn proxy(proxy: Proxy, tls: Option<TlsAcceptor>) -> TestServer {
    start(bound().await, move |stream, heads| {
        let (proxy, tls) = (proxy.clone(), tls.clone());
        async move {
            match tls {
                None => relay(stream, &heads, proxy).await,
                Some(tls) => relay(tls.accept(stream).await?, &heads, proxy).await,
            }
        }
    })
}

async fn relay<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    heads: &Mutex<Vec<String>>,
    proxy: Proxy,
) -> io::Result<()> {
    let head = read_head(&mut stream).await?;
    heads.lock().unwrap().push(head.clone());
    match proxy {
        Proxy::Hangs => std::future::pending().await,
        Proxy::Sends(answer) => {
            stream.write_all(&answer).await?;
            stream.shutdown().await
        }
        Proxy::To(address) => {
            let mut host = TcpStream::connect(address).await?;
            if head.starts_with("CONNECT ") {
                stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
            } else {
                host.write_all(head.as_bytes()).await?;
            }
            tokio::io::copy_bidirectional(&mut stream, &mut host).await.map(drop)
        }
    }
}

/// Binds a listener on loopback, at a free port.
pub(crate) async fn bound() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

fn start<F>(
    listener: TcpListener,
    connection: impl Fn(TcpStream, Arc<Mutex<Vec<String>>>) -> F + Send + 'static,
) -> TestServer
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let address = listener.local_addr().unwrap();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&heads);
    let task = tokio::spawn(async move {
        let mut connections = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(connection(stream, Arc::clone(&recorded)));
        }
    });
    TestServer { address, heads, task: AbortOnDropHandle::new(task) }
}

/// Reads the complete head of a request without a body.
pub(crate) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(String::from_utf8(head).unwrap())
}

/// Creates TLS for these names, and returns the certificate that clients must trust.
pub(crate) fn certified(names: &[&str]) -> (TlsAcceptor, String) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), made.cert.pem())
}

/// A resolver with fixed names: each lookup of a name returns its next entry. Other names cannot be found.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    addresses: &'static [(&'static str, &'static [&'static [&'static str]])],
    lookups: Arc<Mutex<Vec<String>>>,
}

impl Names {
    pub(crate) fn new(addresses: &'static [(&'static str, &'static [&'static [&'static str]])]) -> Self {
        Self { addresses, lookups: Arc::default() }
    }

    /// Returns the names that were looked up.
    pub(crate) fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }
}

impl Resolve for Names {
    fn resolve(&self, host: &str) -> Resolving {
        let mut earlier = self.lookups.lock().unwrap();
        let before = earlier.iter().filter(|name| *name == host).count();
        earlier.push(host.to_owned());
        let listed = self.addresses.iter().find(|(name, _)| *name == host);
        let found = listed.and_then(|(_, entries)| entries.get(before).or(entries.last()));
        let found =
            found.map(|found| found.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect());
        Box::pin(async move { found.ok_or_else(|| io::Error::other("no such name")) })
    }
}

/// Returns a client builder with these proxy variables.
pub(crate) fn client(variables: &[(&str, String)]) -> ClientBuilder {
    let get = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
    Client::builder().proxies(Proxies::from_variables(get))
}
