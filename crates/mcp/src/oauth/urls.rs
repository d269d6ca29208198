//! URLs and their queries. Pure.

use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Everything but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes pairs as a query or the body of a form.
pub(super) fn encode(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Encodes one value.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Decodes a query.
pub(super) fn decode(query: &str) -> Vec<(String, String)> {
    let text = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (text(name), text(value)))
        .collect()
}

/// Adds pairs to the query of a URL.
pub(super) fn with_query(url: &str, pairs: &[(&str, &str)]) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}{}", encode(pairs))
}

/// Returns scheme, host and port of a URL.
pub(super) fn origin(url: &Uri) -> String {
    let authority = url.authority().map_or("", |authority| authority.as_str());
    // user information does not belong to it
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{}://{host}", url.scheme_str().unwrap_or_default()).to_ascii_lowercase()
}

/// Returns whether a URL leads to this machine.
pub(super) fn is_loopback(url: &Uri) -> bool {
    match url.host() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

/// Checks a URL that a server has named: it needs TLS, unless both are on this machine.
pub(super) fn checked(url: &str, server: &Uri) -> Result<Uri, String> {
    let parsed: Uri = url.parse().map_err(|error| format!("invalid URL `{url}`: {error}"))?;
    let is_local = is_loopback(&parsed) && is_loopback(server);
    match parsed.scheme_str() {
        Some("https") => Ok(parsed),
        Some("http") if is_local => Ok(parsed),
        _ => Err(format!("invalid URL `{url}`: a login needs https")),
    }
}

/// Returns whether a server at `url` belongs to `resource`: the same origin, and a path below it.
pub(super) fn is_of_resource(url: &Uri, resource: &str) -> bool {
    let Ok(resource) = resource.parse::<Uri>() else { return false };
    let (path, top) = (url.path(), resource.path().trim_end_matches('/'));
    let is_below = path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    origin(url) == origin(&resource) && is_below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_survive_encoding() {
        let pairs = [("a b", "c&d=é"), ("scope", "x:y/z"), ("", "")];
        let encoded = encode(&pairs);
        assert_eq!(encoded, "a%20b=c%26d%3D%C3%A9&scope=x%3Ay%2Fz&=");
        let decoded = decode(&encoded);
        let decoded: Vec<_> = decoded.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(decoded, pairs);
        assert_eq!(decode("a=b+c"), [("a".to_owned(), "b c".to_owned())]);
        assert_eq!(with_query("https://h/a?b", &[("c", "d")]), "https://h/a?b&c=d");
    }

    #[test]
    fn endpoints_need_tls_except_between_programs_on_loopback() {
        let (public, local) =
            (Uri::from_static("https://mcp.example/x"), Uri::from_static("http://127.0.0.1:1/x"));
        assert!(checked("https://login.example/a", &public).is_ok());
        assert!(checked("http://localhost:9/a", &local).is_ok());
        for bad in [
            "http://login.example/a",
            "http://127.0.0.1/a",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "/a",
            "",
        ] {
            checked(bad, &public).unwrap_err();
        }
        checked("http://169.254.169.254/a", &local).unwrap_err();
    }

    #[test]
    fn resource_is_the_server_or_above_it_at_the_same_origin() {
        let server = Uri::from_static("https://Host:8443/a/mcp?x=1");
        for resource in
            ["https://host:8443", "https://host:8443/", "https://host:8443/a", "https://host:8443/a/mcp"]
        {
            assert!(is_of_resource(&server, resource), "{resource}");
        }
        for other in
            ["https://host/a/mcp", "http://host:8443/a", "https://host:8443/a/m", "https://evil/a/mcp", "a"]
        {
            assert!(!is_of_resource(&server, other), "{other}");
        }
    }
}
