//! The client: settings such as timeouts and limits, one request, redirects.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::PROXY_AUTHORIZATION;
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use crate::connect::{Connector, authority};
use crate::{AddressRule, Body, Error, ErrorKind, Proxies, Resolve, Response, SystemResolver, redirect};

/// Timeouts of a request. `None` waits without limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For establishing a connection, including name lookup, proxy and TLS. Default: 10 s.
    pub connect: Option<Duration>,
    /// For the headers of the response, once connected. Default: 1 minute.
    pub headers: Option<Duration>,
    /// Between two chunks of the body. Default: 2 minutes.
    pub silence: Option<Duration>,
}

impl Default for Timeouts {
    /// Returns 10 seconds, 1 minute and 2 minutes.
    fn default() -> Self {
        Self {
            connect: Some(Duration::from_secs(10)),
            headers: Some(Duration::from_mins(1)),
            silence: Some(Duration::from_mins(2)),
        }
    }
}

/// How to handle redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Redirects {
    /// Return redirects as responses. Nothing is sent to another host, so no key is either.
    #[default]
    Return,
    /// `GET` requests follow up to `max` redirects, but never from `https` to `http`. `Authorization` and `Cookie` are not sent to
    /// another origin.
    Follow {
        /// The maximum number of redirects.
        max: usize,
    },
}

/// How long an idle connection is kept. Vendors close idle connections after a minute or more.
const IDLE_TIMEOUT: Duration = Duration::from_secs(50);
const MAX_IDLE_CONNECTIONS: usize = 4;
const DEFAULT_MAX_HEAD: usize = 128 << 10;
/// Smallest limit that hyper accepts.
const MIN_HEAD: usize = 8 << 10;

/// The settings of a [`Client`].
#[derive(Debug, Clone)]
#[must_use]
pub struct ClientBuilder {
    timeouts: Timeouts,
    redirects: Redirects,
    addresses: AddressRule,
    resolver: Arc<dyn Resolve>,
    proxies: Option<Proxies>,
    keeps_connections: bool,
    max_head: usize,
}

impl ClientBuilder {
    /// Sets the timeouts.
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        Self { timeouts, ..self }
    }

    /// Sets how redirects are handled. The default is to return them.
    pub fn redirects(self, redirects: Redirects) -> Self {
        Self { redirects, ..self }
    }

    /// Sets which addresses are allowed. The default is any.
    pub fn addresses(self, addresses: AddressRule) -> Self {
        Self { addresses, ..self }
    }

    /// Sets the resolver for host names. The default is the resolver of the system.
    pub fn resolver(self, resolver: impl Resolve) -> Self {
        Self { resolver: Arc::new(resolver), ..self }
    }

    /// Sets the proxies. The default is the environment of this process.
    pub fn proxies(self, proxies: Proxies) -> Self {
        Self { proxies: Some(proxies), ..self }
    }

    /// Sets whether idle connections are kept for later requests. The default is to keep them, for 50 seconds.
    pub fn keeps_connections(self, keeps_connections: bool) -> Self {
        Self { keeps_connections, ..self }
    }

    /// Sets the maximum size of the head of a response, in bytes: 8 KiB or more. The default is 128 KiB.
    pub fn max_head(self, max_head: usize) -> Self {
        Self { max_head: max_head.max(MIN_HEAD), ..self }
    }

    /// Builds the client. No connection is made yet.
    pub fn build(self) -> Client {
        let proxies = self.proxies.unwrap_or_else(Proxies::from_env);
        let connector = Connector::new(proxies, self.resolver, self.addresses, self.timeouts.connect);
        let mut builder = Pool::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_TIMEOUT);
        builder.pool_max_idle_per_host(if self.keeps_connections { MAX_IDLE_CONNECTIONS } else { 0 });
        builder.http1_max_buf_size(self.max_head);
        let pool = builder.build(connector.clone());
        Client { pool, connector, timeouts: self.timeouts, redirects: self.redirects }
    }
}

/// Sends requests. Clones share connections.
#[derive(Debug, Clone)]
pub struct Client {
    pool: Pool<Connector, Full<Bytes>>,
    connector: Connector,
    timeouts: Timeouts,
    redirects: Redirects,
}

impl Default for Client {
    fn default() -> Self {
        Self::builder().build()
    }
}

impl Client {
    /// Returns the same client, which shares its connections, with another timeout for the headers and between chunks of a body.
    #[must_use]
    pub fn with_answer_timeout(&self, timeout: Duration) -> Self {
        // the time to connect is part of it
        let connect = Some(Duration::ZERO);
        let timeouts = Timeouts { connect, headers: Some(timeout), silence: Some(timeout) };
        Self { timeouts, ..self.clone() }
    }

    /// Returns a builder with the default settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder {
            timeouts: Timeouts::default(),
            redirects: Redirects::default(),
            addresses: AddressRule::default(),
            resolver: Arc::new(SystemResolver),
            proxies: None,
            keeps_connections: true,
            max_head: DEFAULT_MAX_HEAD,
        }
    }

    /// Sends a `GET` request. Returns the response, whatever its status, as soon as its headers have arrived.
    pub async fn get(&self, url: &str, headers: HeaderMap) -> Result<Response, Error> {
        self.request(Method::GET, url, headers, Vec::new()).await
    }

    /// Sends a request. Returns the response, whatever its status, as soon as its headers have arrived.
    pub async fn request(
        &self,
        method: Method,
        url: &str,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, Error> {
        let mut url = parsed(url)?;
        let max = match self.redirects {
            Redirects::Follow { max } if method == Method::GET && body.is_empty() => max,
            _ => return self.send(method, &url, headers, body).await,
        };
        for _ in 0..=max {
            let response = self.send(method.clone(), &url, headers.clone(), Vec::new()).await?;
            if !redirect::is_redirect(response.status) {
                return Ok(response);
            }
            let to = redirect::target(&url, &response.headers)?;
            redirect::strip(&mut headers, &url, &to);
            url = to;
        }
        let message = format!("more than {max} redirects, the last to {}", shown(&url));
        Err(Error::new(ErrorKind::Redirect, message))
    }

    /// Connects to the host of a URL, through the proxy and with TLS as for a request, and returns the byte stream: for protocols
    /// that begin as HTTP and continue as something else, such as WebSocket.
    ///
    /// A plain `http` URL is connected to directly, because a forwarding proxy passes on requests only.
    pub async fn connect(
        &self,
        url: &str,
    ) -> Result<impl AsyncRead + AsyncWrite + Send + Unpin + 'static, Error> {
        self.connector.stream(&parsed(url)?).await
    }

    async fn send(
        &self,
        method: Method,
        url: &Uri,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, Error> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = url.clone();
        *request.headers_mut() = headers;
        // only a forwarding proxy reads the request; through a tunnel, the host would see the password
        let forwarding = self.connector.proxy(url)?.filter(|_| url.scheme_str() == Some("http"));
        request.headers_mut().remove(PROXY_AUTHORIZATION);
        if let Some(authorization) = forwarding.as_ref().and_then(|proxy| proxy.authorization.clone()) {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization);
        }
        // the connector has its own timeout, which must expire first
        let limit = self.timeouts.headers.map(|limit| limit + self.timeouts.connect.unwrap_or_default());
        let Some(sent) = limited(limit, self.pool.request(request)).await else {
            let limit = limit.unwrap_or_default();
            let message = format!("timed out after {limit:?} waiting for {}", authority(url));
            return Err(Error::new(ErrorKind::Timeout, message));
        };
        let (parts, body) = sent.map_err(|error| failed(url, error))?.into_parts();
        if let Some(proxy) = forwarding
            && parts.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED
        {
            return Err(proxy.authentication_error());
        }
        let body = Body::new(body, self.timeouts.silence);
        Ok(Response { status: parts.status, headers: parts.headers, url: url.clone(), body })
    }
}

async fn limited<F: Future>(limit: Option<Duration>, future: F) -> Option<F::Output> {
    match limit {
        Some(limit) => timeout(limit, future).await.ok(),
        None => Some(future.await),
    }
}

/// Parses a URL and checks that it can be requested.
pub(crate) fn parsed(url: &str) -> Result<Uri, Error> {
    let invalid = |reason: &str| {
        Error::new(ErrorKind::Url, format!("invalid URL `{}`: {reason}", without_credentials(url)))
    };
    let uri: Uri = url.parse().map_err(|error| {
        Error::because(ErrorKind::Url, format!("invalid URL `{}`", without_credentials(url)), error)
    })?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(invalid("it must start with http:// or https://"));
    }
    if uri.host().is_none_or(str::is_empty) {
        return Err(invalid("it has no host"));
    }
    Ok(uri)
}

/// Formats a URL for display, without user information.
pub(crate) fn shown(url: &Uri) -> String {
    without_credentials(&url.to_string())
}

fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// Returns the error of a request that got no response.
fn failed(url: &Uri, error: hyper_util::client::legacy::Error) -> Error {
    if let Some(cause) = Error::find(&error) {
        return cause.clone();
    }
    let host = authority(url);
    if is_too_large(&error) {
        let message = format!("the headers of the response of {host} are too large");
        return Error::because(ErrorKind::TooLarge, message, error);
    }
    Error::because(ErrorKind::Broken, format!("the connection to {host} broke"), error)
}

fn is_too_large(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut at = Some(error);
    while let Some(error) = at {
        if error.downcast_ref().is_some_and(hyper::Error::is_parse_too_large) {
            return true;
        }
        at = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_invalid_urls_do_not_contain_credentials() {
        for url in [
            "ftp://u:s3cret@host/",
            "http://u:s3cret@",
            "https://u:s3cret@a b/",
            "no url",
            "",
            "/path",
            "host:80",
        ] {
            let error = parsed(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Url, "{url}");
            assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
        }
        assert_eq!(shown(&parsed("http://u:p@host:1/a?b").unwrap()), "http://host:1/a?b");
    }
}
