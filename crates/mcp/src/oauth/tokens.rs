//! The file with the logins at MCP servers: `mcp-logins.json` of our home, readable for its owner only.
//!
//! All processes of the user share it. A change holds a lock, and so does a refresh: an authorization server may accept a refresh
//! token only once.

use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::endpoint::{Registration, now};
use musher_config::{parse_json, try_edit_json};

const FILE: &str = "mcp-logins.json";
/// The maximum time to wait for another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(25);
const LOCK_INTERVAL: Duration = Duration::from_millis(25);
/// Tokens are refreshed this long before they expire, in seconds.
const MARGIN: u64 = 30;

/// A login, as stored.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Stored {
    pub(super) client: Option<Registration>,
    pub(super) issuer: Option<String>,
    pub(super) token_endpoint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revocation_endpoint: Option<String>,
    pub(super) resource: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) access_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refresh_token: Option<String>,
    /// When the access token expires, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<u64>,
    /// Whether the server has refused the last request.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) needs_login: bool,
}

impl Stored {
    /// Returns whether the access token has expired, or will in a moment.
    pub(super) fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|at| at <= now() + MARGIN)
    }
}

/// What is known about the login at a server, without asking it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginState {
    /// There is none. The server may not need one.
    None,
    /// There are tokens.
    LoggedIn,
    /// The server has refused the last request: the user has to log in.
    Needed,
}

/// Returns what is known about the login at a server.
pub fn login_of(home: &Path, url: &str) -> LoginState {
    match read(home, url) {
        Some(stored) if stored.needs_login => LoginState::Needed,
        Some(stored) if stored.access_token.is_some() => LoginState::LoggedIn,
        _ => LoginState::None,
    }
}

/// Reads the login at a server. Returns `None` also if the file or the entry cannot be read.
pub(super) fn read(home: &Path, url: &str) -> Option<Stored> {
    let mut file = parse_json(&fs_err::read(home.join(FILE)).ok()?).ok()?;
    Stored::deserialize(file.get_mut(url).map(Value::take)?).ok()
}

/// Changes the login at a server, as it is now in the file. Returns what is stored then.
pub(super) fn update(
    home: &Path,
    url: &str,
    change: impl FnOnce(Option<Stored>) -> Option<Stored>,
) -> io::Result<Option<Stored>> {
    let _lock = lock(&home.join("mcp-logins.lock"))?;
    let path = home.join(FILE);
    // it is created for its owner only; a user who has widened that did not mean the new tokens
    if let Ok(old) = fs_err::metadata(&path)
        && old.permissions().mode() & 0o077 != 0
    {
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    }
    let mut stored = None;
    try_edit_json(&path, |map| {
        let old = map.get(url).and_then(|value| Stored::deserialize(value).ok());
        stored = change(old);
        match &stored {
            Some(stored) => map.insert(url.to_owned(), serde_json::to_value(stored)?),
            None => map.shift_remove(url),
        };
        Ok(())
    })?;
    Ok(stored)
}

/// Returns the lock for refreshes of one server's tokens.
pub(super) fn refresh_lock(home: &Path, url: &str) -> PathBuf {
    let name = URL_SAFE_NO_PAD.encode(Sha256::digest(url.as_bytes()));
    home.join("locks").join(format!("mcp-{name}.lock"))
}

/// Locks a file until the result is dropped. Waits for other processes. Blocks the thread.
pub(super) fn lock(path: &Path) -> io::Result<fs_err::File> {
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let mut options = fs_err::OpenOptions::new();
    options.create(true).truncate(false).write(true);
    options.options_mut().mode(0o600);
    let file = options.open(path)?;
    let end = Instant::now() + LOCK_TIMEOUT;
    loop {
        match file.file().try_lock() {
            Ok(()) => return Ok(file),
            Err(std::fs::TryLockError::WouldBlock) if Instant::now() < end => {
                std::thread::sleep(LOCK_INTERVAL);
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                let text = format!("another process holds `{}`", path.display());
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_of_servers_are_kept_apart_and_for_the_owner_only() {
        let home = tempfile::tempdir().unwrap();
        let home = &home.path().join("new");
        let stored = Stored { access_token: Some("t".to_owned()), ..Stored::default() };
        update(home, "https://a/mcp", |_| Some(stored.clone())).unwrap();
        let needed = Stored { needs_login: true, ..stored.clone() };
        fs_err::set_permissions(home.join(FILE), std::fs::Permissions::from_mode(0o644)).unwrap();
        update(home, "https://b/mcp", |_| Some(needed)).unwrap();
        assert_eq!(fs_err::metadata(home.join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(read(home, "https://a/mcp") == Some(stored));
        assert_eq!(login_of(home, "https://a/mcp"), LoginState::LoggedIn);
        assert_eq!(login_of(home, "https://b/mcp"), LoginState::Needed);
        assert_eq!(login_of(home, "https://a/mcp/"), LoginState::None);
        update(home, "https://a/mcp", |old| old.filter(|_| false)).unwrap();
        assert_eq!(login_of(home, "https://a/mcp"), LoginState::None);
        assert_eq!(login_of(home, "https://b/mcp"), LoginState::Needed);
    }

    #[test]
    fn second_lock_waits_for_the_first() {
        let home = tempfile::tempdir().unwrap();
        let path = refresh_lock(home.path(), "https://a");
        assert_ne!(path, refresh_lock(home.path(), "https://b"));
        let first = lock(&path).unwrap();
        let second = std::thread::spawn({
            let path = path.clone();
            move || lock(&path).map(|_lock| ())
        });
        // the other thread cannot have it before this one drops it
        assert!(fs_err::File::open(&path).unwrap().file().try_lock().is_err());
        drop(first);
        second.join().unwrap().unwrap();
    }
}
