//! Errors of requests: a kind for decisions, a message that names the host, and the cause as `source()`.
//!
//! No message contains a password: hosts are named without user information, and values of proxy variables are never shown.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

type BoxError = Box<dyn StdError + Send + Sync>;

/// Error of a request. Clones share the cause.
///
/// `Display` shows the message without its cause; [`report`](Self::report) adds the innermost cause.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<BoxError>,
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The URL is invalid, or its scheme is not `http` or `https`.
    Url,
    /// The name or value of a header is invalid.
    Header,
    /// A proxy variable is invalid.
    ProxySettings,
    /// The proxy requires authentication, or rejects the credentials.
    ProxyAuthentication,
    /// The proxy refuses the request.
    ProxyRefused,
    /// TLS cannot be set up on this machine.
    TlsSetup,
    /// The address is not allowed by the client's [`AddressRule`](crate::AddressRule).
    ForbiddenAddress,
    /// The connection cannot be made: lookup, TCP, proxy or TLS.
    Connect,
    /// The connection broke before the response began, or the response is not HTTP.
    Broken,
    /// The response body ended before it was complete.
    Incomplete,
    /// A timeout elapsed.
    Timeout,
    /// The headers or the body exceed a limit.
    TooLarge,
    /// A redirect cannot be followed.
    Redirect,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, message: message.into(), source: None }))
    }

    pub(crate) fn because(kind: ErrorKind, message: impl Into<String>, source: impl Into<BoxError>) -> Self {
        Self(Arc::new(Inner { kind, message: message.into(), source: Some(source.into()) }))
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the message with its cause, as one line. Of the causes from other libraries, only the innermost is shown, because
    /// the others carry no information.
    pub fn report(&self) -> String {
        let mut text = self.to_string();
        let mut at = self.source();
        while let Some(cause) = at {
            let next = wrapped(cause);
            if next.is_none() || cause.is::<Self>() {
                text = format!("{text}: {cause}");
            }
            at = next;
        }
        text
    }

    /// Finds an error of this type in a chain of causes, for errors that passed through another library.
    ///
    /// ```
    /// use musher_http::{Client, Error};
    ///
    /// # async fn example() {
    /// # let client = Client::default();
    /// if let Err(error) = client.get("http://127.0.0.1:1/", http::HeaderMap::new()).await {
    ///     let wrapped = std::io::Error::other(error);
    ///     assert!(Error::find(&wrapped).is_some());
    /// }
    /// # }
    /// ```
    pub fn find<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Self> {
        let mut at = Some(error);
        while let Some(error) = at {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            at = wrapped(error);
        }
        None
    }
}

/// Returns the cause of an error. An `io::Error` hides the error it wraps: its `source()` is the source of that error.
fn wrapped<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    inner.map_or_else(|| error.source(), |inner| Some(inner as &(dyn StdError + 'static)))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("source", &self.0.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| &**source as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error() -> Error {
        let inner = Error::because(ErrorKind::Connect, "inner", std::io::Error::other("connection refused"));
        Error::because(ErrorKind::Broken, "cannot connect to host", std::io::Error::other(inner))
    }

    #[test]
    fn report_shows_errors_of_this_crate_and_the_innermost_cause_once() {
        assert_eq!(error().report(), "cannot connect to host: inner: connection refused");
        assert_eq!(Error::new(ErrorKind::Url, "invalid URL").report(), "invalid URL");
    }

    #[test]
    fn find_looks_into_io_errors() {
        let outer = std::io::Error::other(Error::new(ErrorKind::Redirect, "x"));
        assert_eq!(Error::find(&outer).unwrap().kind(), ErrorKind::Redirect);
        assert_eq!(Error::find(&error()).unwrap().kind(), ErrorKind::Broken);
        assert!(Error::find(&std::io::Error::other("x")).is_none());
    }
}
