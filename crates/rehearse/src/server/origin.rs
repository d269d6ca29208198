//! Which requests are answered: those for a loopback name, that no page of another site sends.
//!
//! A page in a browser can send requests to loopback, and a name that an attacker owns can lead there. Programs send no `Origin`.

use std::net::IpAddr;

use hyper::header::{HOST, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Uri};

/// Returns whether a request may be answered, by its `Host`, unless any is allowed, and its `Origin`.
pub(super) fn is_trusted(headers: &HeaderMap, uri: &Uri, is_any_host_allowed: bool) -> bool {
    // an absolute target overrides the header; HTTP/1.0 has neither
    let is_host_trusted = match (uri.authority(), one(headers.get_all(HOST).iter())) {
        (Some(authority), Ok(_)) => is_loopback(authority.as_str()),
        (None, Ok(Some(host))) => is_loopback(host),
        (None, Ok(None)) => true,
        (_, Err(())) => false,
    };
    let is_origin_trusted = match one(headers.get_all(ORIGIN).iter()) {
        Ok(Some(origin)) => origin.split_once("://").is_some_and(|(_, host)| is_loopback(host)),
        Ok(None) => true,
        Err(()) => false,
    };
    (is_host_trusted || is_any_host_allowed) && is_origin_trusted
}

/// Returns the value of a header, if it is there. An error if there are several, or it is not text.
fn one<'a>(mut values: impl Iterator<Item = &'a HeaderValue>) -> Result<Option<&'a str>, ()> {
    let value = values.next().map(|value| value.to_str().ok());
    match (value, values.next()) {
        (None, _) => Ok(None),
        (Some(Some(value)), None) => Ok(Some(value)),
        _ => Err(()),
    }
}

/// Returns whether a host, with or without a port, is this machine.
fn is_loopback(host: &str) -> bool {
    let without_port = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    let name = without_port.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(without_port);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusted(host: &[&str], origin: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in host {
            headers.append(HOST, HeaderValue::from_str(value).unwrap());
        }
        for value in origin {
            headers.append(ORIGIN, HeaderValue::from_str(value).unwrap());
        }
        is_trusted(&headers, &Uri::from_static("/v1/models"), false)
    }

    #[test]
    fn loopback_names_are_trusted_and_no_others() {
        for host in
            ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]:80", "[::1]", "127.1.2.3:9"]
        {
            assert!(trusted(&[host], &[]), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:80",
            "0.0.0.0:1",
            "10.0.0.1",
            "",
            "127.0.0.1.evil.example",
        ] {
            assert!(!trusted(&[host], &[]), "{host}");
        }
        assert!(!trusted(&["127.0.0.1", "127.0.0.1"], &[]));
    }

    #[test]
    fn pages_of_other_sites_are_not_trusted_and_programs_are() {
        assert!(trusted(&["localhost:1"], &["http://localhost:3000"]));
        assert!(trusted(&[], &[]), "HTTP/1.0 has no Host");
        for origin in ["http://evil.example", "null", "https://127.0.0.1.evil.example", "file://"] {
            assert!(!trusted(&["localhost:1"], &[origin]), "{origin}");
        }
    }
}
