//! One request: the name is looked up, the address judged, and that very address connected to.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper::{HeaderMap, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::AddressRule;
use crate::limits::FETCH_BYTES;

/// What came back.
pub(super) struct Page {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// Whether there was more than is taken.
    pub(super) is_cut: bool,
}

/// Asks for one address. Follows nothing.
pub(super) async fn get(uri: &Uri, rule: AddressRule) -> io::Result<Page> {
    let is_tls = uri.scheme_str() == Some("https");
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let stream = connect(&host, port, rule).await?;
    if !is_tls {
        return exchange(stream, uri).await;
    }
    let name = ServerName::try_from(host).map_err(io::Error::other)?;
    let stream = TlsConnector::from(tls()?).connect(name, stream).await?;
    exchange(stream, uri).await
}

async fn connect(host: &str, port: u16, rule: AddressRule) -> io::Result<TcpStream> {
    let found: Vec<SocketAddr> = tokio::net::lookup_host((host, port)).await?.collect();
    // one private address among public ones is a trick or a mistake; neither is worth a connection
    if let Some(private) = found.iter().find(|address| !rule.allows(address.ip())) {
        let reason = format!("{host} is {}, which is not an address of the public network", private.ip());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    }
    let mut last = io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address"));
    for address in found {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    uri: &Uri,
) -> io::Result<Page> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::get(path)
        .header("host", authority)
        .header("user-agent", concat!("musher/", env!("CARGO_PKG_VERSION")))
        .header("accept", "text/html, text/plain, application/json, text/*;q=0.9, */*;q=0.1")
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    let answer = async {
        let response = sender.send_request(request).await.map_err(io::Error::other)?;
        let (parts, mut body) = response.into_parts();
        let mut bytes = Vec::new();
        let mut is_cut = false;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(io::Error::other)?;
            let data = frame.data_ref().map_or(&[][..], |data| data);
            let room = FETCH_BYTES - bytes.len();
            bytes.extend_from_slice(&data[..data.len().min(room)]);
            is_cut = data.len() > room;
            if is_cut {
                break;
            }
        }
        Ok(Page { status: parts.status, headers: parts.headers, body: bytes, is_cut })
    };
    // the connection is driven here and not by a task, so that it ends with this call
    tokio::pin!(answer, connection);
    tokio::select! {
        page = &mut answer => page,
        ended = &mut connection => match ended {
            Ok(()) => answer.await,
            Err(error) => Err(io::Error::other(error)),
        },
    }
}

/// Trusts whom the system trusts; on a system that has no list, whom Mozilla trusts. Read once.
fn tls() -> io::Result<Arc<ClientConfig>> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::clone(CONFIG.get_or_init(|| Arc::new(config))))
}
