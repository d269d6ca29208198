//! Proxy settings, from the environment variables that other programs use as well.
//!
//! Does no IO. An invalid variable makes requests fail: users may rely on the proxy, so connecting directly would be wrong. The
//! password of a proxy is never shown.

mod no_proxy;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};
use percent_encoding::percent_decode_str;

use crate::{Error, ErrorKind};
use no_proxy::NoProxy;

/// The names of the variables that [`Proxies::from_env`] reads. Each is also read in lower case, which takes precedence.
pub const PROXY_VARIABLES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];

/// Proxy settings: which proxy a request uses, if any.
///
/// - `HTTPS_PROXY` is for `https` URLs, `HTTP_PROXY` for `http` URLs, and `ALL_PROXY` for both where the first is not set.
/// - A value is a URL, `http://` or `https://` (the scheme is optional), with `user:password@` if the proxy requires them. Other
///   schemes are not supported: requests that would use such a proxy fail.
/// - `NO_PROXY` is a comma-separated list of hosts that are connected to directly: `*` (all), a domain with its subdomains
///   (`example.com` or `.example.com`), an address or a network (`10.0.0.0/8`), each optionally restricted to a port
///   (`example.com:8443`). Names are not looked up to compare them with networks.
/// - `localhost` and loopback addresses never use a proxy.
/// - Empty variables are treated as unset.
///
/// ```
/// use musher_http::Proxies;
///
/// let proxies = Proxies::from_variables(|name| match name {
///     "HTTPS_PROXY" => Some("http://user:secret@proxy.example:3128".into()),
///     "NO_PROXY" => Some("example.com, 10.0.0.0/8".into()),
///     _ => None,
/// });
/// assert!(!format!("{proxies:?}").contains("secret"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Proxies {
    https: Option<Setting>,
    http: Option<Setting>,
    no_proxy: NoProxy,
}

type Setting = Result<Arc<Proxy>, Error>;

/// A proxy.
#[derive(Debug)]
pub(crate) struct Proxy {
    /// The variable that configures the proxy.
    variable: &'static str,
    /// URL of the proxy, with scheme and port.
    pub(crate) uri: Uri,
    /// The value of `Proxy-Authorization`, marked as sensitive.
    pub(crate) authorization: Option<HeaderValue>,
}

impl Proxies {
    /// Returns settings without proxies, regardless of the environment.
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads the environment of this process.
    pub fn from_env() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// Reads the variables through a function.
    pub fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Self {
        let variable = |name: &'static str| {
            let value = get(&name.to_ascii_lowercase()).filter(|value| !value.is_empty());
            value.or_else(|| get(name)).filter(|value| !value.is_empty())
        };
        let setting = |name| variable(name).map(|value| Proxy::parse(name, value).map(Arc::new));
        let all = setting("ALL_PROXY");
        let no_proxy = variable("NO_PROXY");
        let no_proxy = no_proxy.as_deref().map(std::ffi::OsStr::to_string_lossy).unwrap_or_default();
        Self {
            https: setting("HTTPS_PROXY").or_else(|| all.clone()),
            http: setting("HTTP_PROXY").or(all),
            no_proxy: NoProxy::parse(&no_proxy),
        }
    }

    /// Returns the proxy for a URL. Fails if the variable that configures it is invalid.
    pub(crate) fn find(&self, url: &Uri) -> Result<Option<Arc<Proxy>>, Error> {
        let is_tls = url.scheme_str() == Some("https");
        let Some(setting) = (if is_tls { &self.https } else { &self.http }) else { return Ok(None) };
        let host = bare_host(url);
        let port = url.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        if no_proxy::is_loopback(host) || self.no_proxy.matches(host, port) {
            return Ok(None);
        }
        setting.clone().map(Some)
    }
}

impl Proxy {
    fn parse(variable: &'static str, value: OsString) -> Result<Self, Error> {
        let invalid =
            |reason: &str| Error::new(ErrorKind::ProxySettings, format!("invalid {variable}: {reason}"));
        let value = value.into_string().map_err(|_bytes| invalid("it is not UTF-8"))?;
        let value = value.trim();
        let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
        let scheme = scheme.to_ascii_lowercase();
        let default_port = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return Err(invalid("only http:// and https:// proxies are supported")),
        };
        // a password that is not encoded may contain any of `@`, `/`, `?` and `#`
        let (user, rest) = rest.rsplit_once('@').map_or((None, rest), |(user, rest)| (Some(user), rest));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let uri: Uri = format!("{scheme}://{authority}/").parse().map_err(|error| {
            Error::because(ErrorKind::ProxySettings, format!("invalid {variable}: no host and port"), error)
        })?;
        if bare_host(&uri).is_empty() {
            return Err(invalid("no host"));
        }
        // `host:` and a port that is too large parse as a URL, but with another meaning
        let has_port = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest).contains(':');
        if has_port && uri.port_u16().is_none_or(|port| port == 0) {
            return Err(invalid("the port is not a number from 1 to 65535"));
        }
        let uri = if has_port {
            uri
        } else {
            format!("{scheme}://{authority}:{default_port}/").parse().map_err(|error| {
                Error::because(ErrorKind::ProxySettings, format!("invalid {variable}: no host"), error)
            })?
        };
        Ok(Self { variable, uri, authorization: user.and_then(basic) })
    }

    /// Returns host and port for display.
    pub(crate) fn authority(&self) -> &str {
        self.uri.authority().map_or("", |authority| authority.as_str())
    }

    /// Returns the error for status 407.
    pub(crate) fn authentication_error(&self) -> Error {
        let message = if self.authorization.is_some() {
            format!("{self} rejected the user name and password")
        } else {
            format!("{self} requires a user name and password")
        };
        Error::new(ErrorKind::ProxyAuthentication, message)
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy {} ({})", self.authority(), self.variable)
    }
}

/// Returns the value of `Proxy-Authorization` for the `user:password` of a URL.
fn basic(user: &str) -> Option<HeaderValue> {
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let mut pair: Vec<u8> = percent_decode_str(name).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(password));
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns the host of a URL; an IPv6 address without brackets.
pub(crate) fn bare_host(url: &Uri) -> &str {
    let host = url.host().unwrap_or_default();
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}
