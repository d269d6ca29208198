//! Sends a request and gives back a body to read: plain HTTP/1.1 over TCP or TLS, with a limit on every wait.
//!
//! Knows nothing of models. Follows no redirect, because the key would go with it, and takes no proxy from the environment. Made of
//! hyper and rustls directly: what a larger client adds (redirects, cookies, proxies, decompression) is what must not happen here.

mod connector;
mod retry_after;

use std::error::Error as StdError;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::timeout;

use crate::{ErrorClass, ModelError};
use connector::{ConnectTimeout, Limited};
pub(crate) use retry_after::retry_after;

/// How long to wait for what. `None` waits for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, name lookup and TLS included.
    pub connect: Option<Duration>,
    /// For the headers of the response, after the connection.
    pub headers: Option<Duration>,
    /// Between two pieces of the response.
    pub silence: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Some(Duration::from_secs(10)),
            headers: Some(Duration::from_mins(1)),
            silence: Some(Duration::from_mins(2)),
        }
    }
}

/// The connections of a process. Cheap to make, and best shared: connections are used again.
#[derive(Debug)]
pub struct Http {
    timeouts: Timeouts,
    plain: Client<Limited<HttpConnector>, Full<Bytes>>,
    /// Made when first needed: reading the system's certificates takes a while.
    tls: OnceLock<Result<TlsClient, String>>,
}

type TlsClient = Client<Limited<hyper_rustls::HttpsConnector<HttpConnector>>, Full<Bytes>>;

/// How long an idle connection is kept. Vendors close theirs after a minute or more.
const IDLE: Duration = Duration::from_secs(50);
const IDLE_CONNECTIONS: usize = 4;
/// How much may follow the end of an answer, and how long it may take.
const REST: usize = 16 << 10;
const REST_PATIENCE: Duration = Duration::from_millis(20);
/// How much of an error's body is read, and for how long.
const ERROR_BODY: usize = 64 << 10;
const ERROR_PATIENCE: Duration = Duration::from_secs(10);

impl Http {
    /// No connection is made yet.
    pub fn new(timeouts: Timeouts) -> Self {
        let plain = client().build(Limited::new(connector::tcp(), timeouts.connect));
        Self { timeouts, plain, tls: OnceLock::new() }
    }

    /// Posts JSON; gives the response when its headers are there.
    pub(crate) async fn post(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, ModelError> {
        self.request(Method::POST, url, headers, body).await
    }

    /// Asks for anything; gives the response, whatever its status, when its headers are there.
    pub async fn request(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, ModelError> {
        let uri: Uri = url.parse().map_err(|error| bad_url(url, &error))?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(bad_url(url, &"it does not begin with http:// or https://")),
        };
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = uri.clone();
        *request.headers_mut() = headers;
        let sending = if is_tls { self.tls()?.request(request) } else { self.plain.request(request) };
        // the connector has its own limit, which must be the first to strike
        let limit = self.timeouts.headers.map(|limit| limit + self.timeouts.connect.unwrap_or_default());
        let host = uri.authority().map_or(url, |authority| authority.as_str());
        match limited(limit, sending).await {
            None => {
                let message = format!("{host} did not answer within {:?}", limit.unwrap_or_default());
                Err(ModelError::new(ErrorClass::Timeout, message))
            }
            Some(Err(error)) => Err(unreachable(host, &error)),
            Some(Ok(response)) => {
                let (parts, body) = response.into_parts();
                let silence = self.timeouts.silence;
                Ok(Response { status: parts.status, headers: parts.headers, body: Body { body, silence } })
            }
        }
    }

    fn tls(&self) -> Result<&TlsClient, ModelError> {
        let tls = self.tls.get_or_init(|| {
            let connector = connector::tls().map_err(|error| error.to_string())?;
            Ok(client().build(Limited::new(connector, self.timeouts.connect)))
        });
        tls.as_ref()
            .map_err(|error| ModelError::new(ErrorClass::Config, format!("cannot set up TLS: {error}")))
    }
}

impl Default for Http {
    fn default() -> Self {
        Self::new(Timeouts::default())
    }
}

fn client() -> hyper_util::client::legacy::Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE).pool_max_idle_per_host(IDLE_CONNECTIONS);
    builder
}

/// A response whose body is still to be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Response {
    /// How it went.
    pub status: StatusCode,
    /// What is told about it.
    pub headers: HeaderMap,
    /// The rest, still to be read.
    pub body: Body,
}

impl Response {
    /// A header, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The beginning of a body that is text to be shown. Never fails and never takes long.
    pub async fn text(&mut self) -> String {
        let mut bytes = Vec::new();
        let reading = async {
            while let Ok(Some(piece)) = self.body.next().await {
                bytes.extend_from_slice(&piece);
                if bytes.len() >= ERROR_BODY {
                    break;
                }
            }
        };
        // if it takes too long, what has come must do
        timeout(ERROR_PATIENCE, reading).await.ok();
        bytes.truncate(ERROR_BODY);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A body, piece by piece.
#[derive(Debug)]
pub struct Body {
    body: Incoming,
    silence: Option<Duration>,
}

impl Body {
    /// The next piece; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ModelError> {
        loop {
            let frame = limited(self.silence, self.body.frame()).await;
            match frame {
                None => {
                    let message = format!("nothing came for {:?}", self.silence.unwrap_or_default());
                    return Err(ModelError::new(ErrorClass::Timeout, message));
                }
                Some(None) => return Ok(None),
                Some(Some(Err(error))) => {
                    let message = format!("the connection broke during the answer: {}", root(&error));
                    return Err(ModelError::new(ErrorClass::Cut, message));
                }
                // trailers are of no interest
                Some(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}

impl Body {
    /// Nothing more is wanted: reads to the end if that is near, so that the connection can be used again.
    pub(crate) async fn finish(&mut self) {
        let rest = async {
            let mut left = REST;
            while let Some(Ok(frame)) = self.body.frame().await {
                let length = frame.data_ref().map_or(0, Bytes::len);
                let Some(still) = left.checked_sub(length) else { return };
                left = still;
            }
        };
        // if it takes longer, a new connection is the better choice
        timeout(REST_PATIENCE, rest).await.ok();
    }
}

async fn limited<F: Future>(limit: Option<Duration>, future: F) -> Option<F::Output> {
    match limit {
        Some(limit) => timeout(limit, future).await.ok(),
        None => Some(future.await),
    }
}

fn bad_url(url: &str, reason: &dyn std::fmt::Display) -> ModelError {
    ModelError::new(ErrorClass::Config, format!("`{url}` is no address to ask: {reason}"))
}

fn unreachable(host: &str, error: &hyper_util::client::legacy::Error) -> ModelError {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(at) = cause {
        if at.is::<ConnectTimeout>() {
            return ModelError::new(ErrorClass::Timeout, format!("cannot connect to {host}: {at}"));
        }
        cause = at.source();
    }
    let did = if error.is_connect() { "cannot connect to" } else { "the connection broke to" };
    ModelError::new(ErrorClass::Network, format!("{did} {host}: {}", root(error)))
}

/// The innermost reason: the outer ones only say that there is one.
fn root(error: &dyn StdError) -> String {
    let mut at = error;
    while let Some(source) = at.source() {
        at = source;
    }
    at.to_string()
}

/// Adds a header whose value came from outside.
pub(crate) fn header(
    headers: &mut HeaderMap,
    name: &str,
    value: &str,
    is_secret: bool,
) -> Result<(), String> {
    let key =
        HeaderName::from_bytes(name.as_bytes()).map_err(|_bad| format!("`{name}` is no name of a header"))?;
    let mut value = HeaderValue::from_str(value)
        .map_err(|_bad| format!("the value of `{name}` is not fit for a header"))?;
    value.set_sensitive(is_secret);
    headers.insert(key, value);
    Ok(())
}
