//! Establishes connections: name lookup, TCP, proxy tunnel and TLS, with one timeout for all of them.
//!
//! The only module that opens sockets. It checks exactly the addresses that it then connects to, so that no caller, redirect
//! or name can bypass the address rule.

mod stream;
mod tunnel;

use std::error::Error as StdError;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower_service::Service;

use crate::address::is_public_name;
use crate::proxy::{Proxy, bare_host};
use crate::{AddressRule, Error, ErrorKind, Proxies, Resolve, tls};
use stream::Stream;

/// Establishes the connections of a client.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    proxies: Proxies,
    lookup: Lookup,
    timeout: Option<Duration>,
}

impl Connector {
    pub(crate) fn new(
        proxies: Proxies,
        resolver: Arc<dyn Resolve>,
        rule: AddressRule,
        timeout: Option<Duration>,
    ) -> Self {
        Self { shared: Arc::new(Shared { proxies, lookup: Lookup { resolver, rule }, timeout }) }
    }

    /// Connects to the host of a URL for another protocol than HTTP.
    pub(crate) async fn stream(&self, url: &Uri) -> Result<Stream, Error> {
        let proxy = self.proxy(url)?.filter(|_| url.scheme_str() == Some("https"));
        let stream = self.shared.connect_within_limit(url, proxy.as_deref()).await?;
        Ok(stream.into_inner())
    }

    /// Returns the proxy for a URL.
    pub(crate) fn proxy(&self, url: &Uri) -> Result<Option<Arc<Proxy>>, Error> {
        self.shared.proxies.find(url)
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<TokioIo<Stream>, Error>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let proxy = shared.proxies.find(&url)?;
            shared.connect_within_limit(&url, proxy.as_deref()).await
        })
    }
}

impl Shared {
    async fn connect_within_limit(&self, url: &Uri, proxy: Option<&Proxy>) -> Result<TokioIo<Stream>, Error> {
        let connecting = self.connect(url, proxy);
        let Some(limit) = self.timeout else { return connecting.await };
        timeout(limit, connecting).await.unwrap_or_else(|elapsed| {
            let through = proxy.map(|proxy| format!(" through {proxy}")).unwrap_or_default();
            let message = format!("cannot connect to {}{through} within {limit:?}", authority(url));
            Err(Error::because(ErrorKind::Timeout, message, elapsed))
        })
    }

    async fn connect(&self, url: &Uri, proxy: Option<&Proxy>) -> Result<TokioIo<Stream>, Error> {
        let is_tls = url.scheme_str() == Some("https");
        let Some(proxy) = proxy else {
            let tcp = self.lookup.connect(url, &format!("cannot connect to {}", authority(url))).await?;
            return Ok(TokioIo::new(if is_tls { secured(tcp, url).await? } else { Stream::direct(tcp) }));
        };
        self.lookup.check_proxied(bare_host(url)).await?;
        // the proxy comes from the user, so the address rule does not apply to it
        let any = Lookup { rule: AddressRule::Any, ..self.lookup.clone() };
        let tcp = any.connect(&proxy.uri, &format!("cannot connect to {proxy}")).await?;
        let mut stream = if proxy.uri.scheme_str() == Some("https") {
            secured(tcp, &proxy.uri).await?
        } else {
            Stream::direct(tcp)
        };
        if !is_tls {
            return Ok(TokioIo::new(stream.forwarding()));
        }
        tunnel::open(&mut stream, proxy, &authority(url)).await?;
        Ok(TokioIo::new(secured(stream, url).await?))
    }
}

/// Establishes TLS with the host of a URL.
async fn secured<S>(stream: S, url: &Uri) -> Result<Stream, Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let failed = |error: Box<dyn StdError + Send + Sync>| {
        Error::because(ErrorKind::Connect, format!("cannot connect to {}", authority(url)), error)
    };
    let name = ServerName::try_from(bare_host(url).to_owned()).map_err(|error| failed(error.into()))?;
    let connecting = TlsConnector::from(tls::config()?).connect(name, stream).await;
    Ok(Stream::direct(connecting.map_err(|error| failed(error.into()))?))
}

/// Resolves names and checks the addresses against the rule.
#[derive(Debug, Clone)]
struct Lookup {
    resolver: Arc<dyn Resolve>,
    rule: AddressRule,
}

impl Lookup {
    /// Connects to the host of a URL, at the first of its addresses that accepts.
    async fn connect(&self, url: &Uri, failure: &str) -> Result<tokio::net::TcpStream, Error> {
        // the connector does not look up a literal address, so it is checked here
        if let Ok(address) = bare_host(url).parse() {
            self.check(bare_host(url), address)?;
        }
        let mut connector = HttpConnector::new_with_resolver(self.clone());
        connector.enforce_http(false);
        connector.set_nodelay(true);
        match connector.call(url.clone()).await {
            Ok(stream) => Ok(stream.into_inner()),
            Err(error) => Err(Error::find(&error)
                .cloned()
                .unwrap_or_else(|| Error::because(ErrorKind::Connect, failure, error))),
        }
    }

    fn check(&self, host: &str, address: IpAddr) -> Result<(), Error> {
        if self.rule.allows(address) {
            return Ok(());
        }
        let message = if host.parse() == Ok(address) {
            format!("{host} is not an address of the public internet")
        } else {
            format!("{host} is {address}, which is not an address of the public internet")
        };
        Err(Error::new(ErrorKind::ForbiddenAddress, message))
    }

    /// Looks up a name. A single address that is not allowed rejects the name, because it is an attack or a mistake.
    async fn addresses(&self, host: &str) -> Result<Vec<SocketAddr>, Box<dyn StdError + Send + Sync>> {
        let found = self.resolver.resolve(host).await?;
        found.iter().try_for_each(|address| self.check(host, address.ip()))?;
        Ok(found)
    }

    /// Checks a host that the proxy will look up; see [`AddressRule::Public`].
    async fn check_proxied(&self, host: &str) -> Result<(), Error> {
        if self.rule == AddressRule::Any {
            return Ok(());
        }
        if let Ok(address) = host.parse() {
            return self.check(host, address);
        }
        let found = self.resolver.resolve(host).await.unwrap_or_default();
        if found.is_empty() && !is_public_name(host) {
            let message = format!("{host} is not a name of the public internet");
            return Err(Error::new(ErrorKind::ForbiddenAddress, message));
        }
        found.iter().try_for_each(|address| self.check(host, address.ip()))
    }
}

impl Service<Name> for Lookup {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Box<dyn StdError + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let lookup = self.clone();
        Box::pin(async move { Ok(lookup.addresses(name.as_str()).await?.into_iter()) })
    }
}

/// Returns the host and port of a URL, without user information, for messages and for proxies.
pub(crate) fn authority(url: &Uri) -> String {
    let host = url.host().unwrap_or_default();
    let default = if url.scheme_str() == Some("https") { 443 } else { 80 };
    format!("{host}:{}", url.port_u16().unwrap_or(default))
}
