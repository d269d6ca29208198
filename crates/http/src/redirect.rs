//! Targets of redirects, as pure functions.

use http::header::{AUTHORIZATION, COOKIE, LOCATION};
use http::{HeaderMap, StatusCode, Uri};

use crate::client::{parsed, shown};
use crate::{Error, ErrorKind};

/// Returns whether a status is a redirect.
pub(crate) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Returns the target of a redirect. Rejects targets without TLS after TLS, and targets with a user name or password.
pub(crate) fn target(from: &Uri, headers: &HeaderMap) -> Result<Uri, Error> {
    let refuse = |reason: String| Error::new(ErrorKind::Redirect, format!("{} {reason}", shown(from)));
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let location = location.ok_or_else(|| refuse("redirects without a location".to_owned()))?;
    let to = parsed(&joined(from, location)).map_err(|error| {
        let message = format!("{} redirects to an address that cannot be fetched", shown(from));
        Error::because(ErrorKind::Redirect, message, error)
    })?;
    if to.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(refuse("redirects to an address with a user name or password".to_owned()));
    }
    if from.scheme_str() == Some("https") && to.scheme_str() == Some("http") {
        return Err(refuse(format!("redirects to {}, which is not encrypted", shown(&to))));
    }
    Ok(to)
}

/// Removes credentials if the origin changes.
pub(crate) fn strip(headers: &mut HeaderMap, from: &Uri, to: &Uri) {
    if from.scheme() != to.scheme() || from.authority() != to.authority() {
        headers.remove(AUTHORIZATION);
        headers.remove(COOKIE);
    }
}

fn joined(from: &Uri, location: &str) -> String {
    let location = location.split('#').next().unwrap_or_default();
    let scheme = from.scheme_str().unwrap_or("https");
    let authority = from.authority().map_or("", |authority| authority.as_str());
    if has_scheme(location) {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else if location.is_empty() || location.starts_with('?') {
        format!("{scheme}://{authority}{}{location}", from.path())
    } else {
        let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{}", without_dots(&format!("{folder}/{location}")))
    }
}

fn has_scheme(location: &str) -> bool {
    let Some((scheme, _)) = location.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// Resolves `.` and `..` in the path of a relative location.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if segments.peek().is_none() {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}{query}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_to(from: &str, location: &str) -> Result<String, String> {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, location.parse().unwrap());
        let to = target(&from.parse().unwrap(), &headers);
        to.map(|to| to.to_string()).map_err(|error| error.report())
    }

    #[test]
    fn locations_are_resolved_against_the_page() {
        let cases = [
            ("http://other/x", "http://other/x"),
            ("//other/x", "https://other/x"),
            ("/x?next=http://y/", "https://host:81/x?next=http://y/"),
            ("x", "https://host:81/a/x"),
            ("./x", "https://host:81/a/x"),
            ("../x?up=..", "https://host:81/x?up=.."),
            ("../../../", "https://host:81/"),
            ("..", "https://host:81/"),
            ("?q=2", "https://host:81/a/b?q=2"),
            ("x#part", "https://host:81/a/x"),
            ("#part", "https://host:81/a/b"),
        ];
        for (location, expected) in cases.into_iter().skip(1) {
            assert_eq!(from_to("https://host:81/a/b?q=1", location).as_deref(), Ok(expected), "{location}");
        }
        assert_eq!(from_to("http://host/", cases[0].0).as_deref(), Ok(cases[0].1));
    }

    #[test]
    fn redirects_that_lose_encryption_or_carry_credentials_are_rejected() {
        let cases = [
            ("http://host/", "redirects to http://host/, which is not encrypted"),
            ("file:///etc/passwd", "invalid URL `file:///etc/passwd`"),
            ("javascript:alert(1)", "invalid URL"),
            ("https://user:pw@host/", "redirects to an address with a user name or password"),
            ("https://", "invalid URL"),
        ];
        for (location, reason) in cases {
            let error = from_to("https://host/", location).unwrap_err();
            assert!(error.contains(reason), "{location}: {error}");
            assert!(!error.contains("pw"), "{error}");
        }
        let error = target(&"https://host/".parse().unwrap(), &HeaderMap::new()).unwrap_err();
        assert_eq!(error.to_string(), "https://host/ redirects without a location");
    }

    #[test]
    fn credentials_are_not_sent_to_another_origin() {
        let mut headers = HeaderMap::new();
        for name in [AUTHORIZATION, COOKIE] {
            headers.insert(name, "x".parse().unwrap());
        }
        strip(&mut headers, &"https://a/1".parse().unwrap(), &"https://a/2".parse().unwrap());
        assert_eq!(headers.len(), 2);
        strip(&mut headers, &"https://a/1".parse().unwrap(), &"https://a:444/1".parse().unwrap());
        assert_eq!(headers.len(), 0);
    }
}
