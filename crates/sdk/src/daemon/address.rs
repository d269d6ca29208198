//! Addresses of daemons: what the caller gives, and where daemons are by convention. No connection is made here.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The port of a droid daemon, by the convention of its SDK.
const DROID_PORT: u16 = 37643;

/// Where a daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// A Unix socket.
    Unix(PathBuf),
    /// A `ws://` URL.
    Plain(String),
    /// A `wss://` URL.
    Tls(String),
}

impl Address {
    /// Reads `unix:PATH`, `ws://HOST:PORT` or `wss://HOST`.
    pub(super) fn parse(text: &str) -> Result<Self> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            if path.is_empty() {
                return Err(Error::invalid_input("invalid address `unix:`: it has no path"));
            }
            return Ok(Self::Unix(PathBuf::from(path)));
        }
        if text.starts_with("ws://") {
            return Ok(Self::Plain(text.to_owned()));
        }
        if text.starts_with("wss://") {
            return Ok(Self::Tls(text.to_owned()));
        }
        let message = format!("invalid address `{text}`: use `unix:PATH`, `ws://HOST:PORT` or `wss://HOST`");
        Err(Error::invalid_input(message))
    }
}

impl Address {
    /// Returns whether the daemon is on this machine for certain.
    pub(super) fn is_local(&self) -> bool {
        let (Self::Plain(url) | Self::Tls(url)) = self else { return true };
        let authority = url.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        // a name before an `@` is not the host
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Plain(url) | Self::Tls(url) => f.write_str(url),
        }
    }
}

/// Where daemons are by convention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Convention {
    /// `musher daemon`: the socket and the token in its home.
    Musher { home: PathBuf },
    /// `droid daemon`: its port file, or its usual port.
    Droid { home: PathBuf },
}

impl Convention {
    /// Returns the address to try.
    pub(super) fn address(&self) -> Address {
        match self {
            Self::Musher { home } => Address::Unix(home.join("daemon.sock")),
            Self::Droid { home } => {
                let file = home.join("sdk").join("daemon.port");
                let port = fs_err::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
                Address::Plain(format!("ws://127.0.0.1:{}", port.unwrap_or(DROID_PORT)))
            }
        }
    }

    /// Returns the file with the token. Only our own daemon writes one.
    pub(super) fn token_file(&self) -> Option<PathBuf> {
        match self {
            Self::Musher { home } => Some(home.join("daemon.token")),
            Self::Droid { .. } => None,
        }
    }
}

/// Reads a token from the file that the daemon writes.
pub(super) fn read_token(file: &Path) -> Option<String> {
    let text = fs_err::read_to_string(file).ok()?;
    let token = text.trim();
    (!token.is_empty()).then(|| token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_each_kind_are_read_and_printed() {
        for text in ["unix:/run/a b.sock", "ws://127.0.0.1:1", "wss://host/path"] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Address::parse("unix:///run/x").unwrap(), Address::Unix("/run/x".into()));
        for wrong in ["unix:", "http://host", "localhost:1", ""] {
            assert!(Address::parse(wrong).unwrap_err().is_invalid_input(), "{wrong}");
        }
    }

    #[test]
    fn only_addresses_of_this_machine_are_local() {
        let is_local = |text: &str| Address::parse(text).unwrap().is_local();
        for text in ["unix:/a", "ws://127.0.0.1:1/x", "ws://[::1]:2", "ws://localhost:3", "wss://127.1.2.3"] {
            assert!(is_local(text), "{text}");
        }
        for text in [
            "ws://10.0.0.1:1",
            "wss://localhost.evil.example",
            "ws://127.0.0.1@evil.example:1",
            "ws://127.0.0.1.evil.example",
            "ws://",
        ] {
            assert!(!is_local(text), "{text}");
        }
    }

    #[test]
    fn droid_port_comes_from_its_file_if_there_is_one() {
        let home = tempfile::tempdir().unwrap();
        let convention = Convention::Droid { home: home.path().to_owned() };
        assert_eq!(convention.address().to_string(), "ws://127.0.0.1:37643");
        fs_err::create_dir_all(home.path().join("sdk")).unwrap();
        fs_err::write(home.path().join("sdk/daemon.port"), "4711\n").unwrap();
        assert_eq!(convention.address().to_string(), "ws://127.0.0.1:4711");
    }
}
