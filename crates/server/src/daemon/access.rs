//! Who may connect: the token, and the Host and Origin of an upgrade. Pure.
//!
//! Any web page can make a browser open a socket to this machine, so a page is refused unless it is listed, and a name that does not
//! mean this machine is refused because it may be a page's own name with our address (DNS rebinding).

use std::fmt;
use std::net::IpAddr;

/// The credential of clients.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Minimum length of a token in bytes.
const MIN_TOKEN: usize = 16;

impl Token {
    /// Validates a token. It must have at least 16 bytes, because anyone on this machine can try to guess it.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (text.len() >= MIN_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic())).then_some(Self(text))
    }

    /// Creates a token of 256 random bits.
    pub fn random() -> Self {
        let half = || uuid::Uuid::new_v4().simple().to_string();
        Self(format!("{}{}{}", half(), half(), &half()[..8]))
    }

    /// Returns the token as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a client has sent the token. Takes the same time for every text of a length.
    pub(crate) fn matches(&self, candidate: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), candidate.as_bytes());
        let mut difference = usize::from(ours.len() != theirs.len());
        for (at, byte) in theirs.iter().enumerate() {
            // the length of the token is not secret, but the comparison must not end early
            difference |= usize::from(byte ^ ours[at % ours.len()]);
        }
        std::hint::black_box(difference) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(...)")
    }
}

/// The web pages that may connect, as `https://example.org` or `http://localhost:3000`.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    origins: Vec<(String, String, u16)>,
    hosts: Vec<String>,
}

impl Origins {
    /// Adds a page. Returns `None` if the text is not an origin.
    pub fn allow(mut self, origin: &str) -> Option<Self> {
        self.origins.push(parsed(origin)?);
        Some(self)
    }

    /// Adds a name under which clients reach the daemon, besides addresses and names of this machine.
    #[must_use]
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into().to_ascii_lowercase());
        self
    }

    /// Returns whether an upgrade with these headers is accepted. `is_local`: over a Unix socket, which no page can reach.
    pub(crate) fn admits(&self, host: Option<&str>, origin: &[&str], is_local: bool) -> bool {
        let is_known_host = is_local || host.is_some_and(|host| self.knows_host(host));
        let is_known_origin = match origin {
            [] => true,
            [one] => parsed(one).is_some_and(|origin| self.origins.contains(&origin)),
            _ => false,
        };
        is_known_host && is_known_origin
    }

    /// Returns whether a request comes from a page that this daemon has served.
    pub(crate) fn admits_own(&self, host: Option<&str>, origin: &[&str]) -> bool {
        let Some(host) = host.filter(|host| self.knows_host(host)) else { return false };
        match origin {
            [] => true,
            // a proxy in front of the daemon may add TLS
            [one] => one.split_once("://").is_some_and(|(scheme, of)| {
                matches!(scheme, "http" | "https") && of.eq_ignore_ascii_case(host)
            }),
            _ => false,
        }
    }

    fn knows_host(&self, host: &str) -> bool {
        let (name, _) = split_port(host);
        let name = name.to_ascii_lowercase();
        // a page cannot have an address as its name and reach us with another meaning
        name == "localhost" || name.parse::<IpAddr>().is_ok() || self.hosts.contains(&name)
    }
}

/// Splits `host:port`, `[v6]:port` or `host`.
fn split_port(host: &str) -> (&str, Option<&str>) {
    if let Some(rest) = host.strip_prefix('[')
        && let Some((name, rest)) = rest.split_once(']')
    {
        return (name, rest.strip_prefix(':'));
    }
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') => (name, Some(port)),
        _ => (host, None),
    }
}

fn parsed(origin: &str) -> Option<(String, String, u16)> {
    let (scheme, rest) = origin.split_once("://")?;
    let default = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let (host, port) = split_port(rest);
    let port = port.map_or(Some(default), |port| port.parse().ok())?;
    let is_plain = !host.is_empty() && !host.contains(['/', '@', '?', '#', ' ']);
    is_plain.then(|| (scheme.to_owned(), host.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_matches() {
        let token = Token::new("0123456789abcdef").unwrap();
        assert!(token.matches("0123456789abcdef"));
        for wrong in [
            "",
            "0123456789abcde",
            "0123456789abcdeF",
            "0123456789abcdef0",
            "0123456789abcdef0123456789abcdef",
        ] {
            assert!(!token.matches(wrong), "{wrong}");
        }
        assert!(Token::new("short").is_none() && Token::new("with space 0123456789").is_none());
        assert!(Token::random().as_str().len() >= 64 && Token::random() != Token::random());
        assert!(!format!("{:?}", Token::random()).contains(char::is_numeric));
    }

    #[test]
    fn names_of_other_machines_and_unlisted_pages_are_refused() {
        let none = Origins::default();
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1:37643", "[::1]:1", "192.168.1.2:80"] {
            assert!(none.admits(Some(host), &[], false), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", ""] {
            assert!(!none.admits(Some(host), &[], false), "{host}");
        }
        assert!(!none.admits(None, &[], false) && none.admits(None, &[], true));
        assert!(!none.admits(Some("localhost"), &["http://localhost:37643"], false));
        assert!(!none.admits(None, &["https://evil.example"], true));

        let some = Origins::default().allow("https://App.example").unwrap().host("daemon.example");
        assert!(some.admits(Some("daemon.example:1"), &["https://app.example:443"], false));
        for origin in [
            "http://app.example",
            "https://app.example:444",
            "https://app.example.evil",
            "null",
            "https://x@app.example",
        ] {
            assert!(!some.admits(Some("localhost"), &[origin], false), "{origin}");
        }
        assert!(!some.admits(Some("localhost"), &["https://app.example", "https://app.example"], false));
        assert!(Origins::default().allow("null").is_none() && Origins::default().allow("https://").is_none());
    }

    #[test]
    fn page_of_the_console_is_for_its_own_origin_and_known_names() {
        let origins = Origins::default();
        assert!(origins.admits_own(Some("127.0.0.1:37644"), &[]));
        for own in ["http://127.0.0.1:37644", "https://127.0.0.1:37644", "http://127.0.0.1:37644"] {
            assert!(origins.admits_own(Some("127.0.0.1:37644"), &[own]), "{own}");
        }
        for other in ["http://127.0.0.1:37645", "http://evil.example", "null", "http://localhost:37644"] {
            assert!(!origins.admits_own(Some("127.0.0.1:37644"), &[other]), "{other}");
        }
        assert!(!origins.admits_own(Some("evil.example:37644"), &["http://evil.example:37644"]));
        assert!(!origins.admits_own(None, &[]));
    }
}
