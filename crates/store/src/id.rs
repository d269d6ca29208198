//! Session ids, and the names of session directories. Ids are untrusted: only a validated id becomes part of a path.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// Maximum length of an id in bytes.
const MAX_LENGTH: usize = 64;

/// The id of a session: 1 to 64 ASCII letters, digits, `-` and `_`.
///
/// ```
/// use musher_store::SessionId;
///
/// assert!("my-session_1".parse::<SessionId>().is_ok());
/// assert!("../../etc/passwd".parse::<SessionId>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Arc<str>);

/// A text that is not a valid session id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid session id: it must consist of 1 to 64 letters, digits, `-` and `_`")]
pub struct InvalidId;

impl SessionId {
    /// Validates a text as an id.
    pub fn new(id: &str) -> Result<Self, InvalidId> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if id.is_empty() || id.len() > MAX_LENGTH || !id.bytes().all(is_plain) {
            return Err(InvalidId);
        }
        Ok(Self(id.into()))
    }

    /// Validates a text as an id, for callers with an error of their own.
    pub fn parse(id: &str) -> Option<Self> {
        Self::new(id).ok()
    }

    /// Creates a unique id.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string().into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SessionId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Self::new(text)
    }
}

/// Returns the name of the directory for the sessions of a working directory: `/home/me/project` becomes `-home-me-project`.
pub fn slug(cwd: &Path) -> String {
    let path = cwd.to_string_lossy();
    let path = path.trim_end_matches(['/', '\\']).trim_start_matches(['/', '\\']);
    let mut slug = format!("-{}", path.replace(['/', '\\'], "-"));
    // file names have at most 255 bytes; a longer one is truncated and made unique by a hash
    if slug.len() > 255 {
        let hash = super::hash::hex(path.as_bytes());
        let cut = slug.floor_char_boundary(238);
        slug.truncate(cut);
        slug.push('-');
        slug.push_str(&hash[..16]);
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_names_without_special_characters_are_ids() {
        let longest = "x".repeat(64);
        for id in ["a", "A-b_9", "-", longest.as_str()] {
            assert!(SessionId::new(id).is_ok(), "{id}");
        }
        let too_long = "x".repeat(65);
        for id in ["", ".", "..", "a/b", "a\\b", "a.b", "a b", "a\0", "ä", too_long.as_str()] {
            assert!(SessionId::new(id).is_err(), "{id}");
        }
    }

    #[test]
    fn slug_is_one_file_name_for_any_path() {
        for (cwd, expected) in
            [("/workspace", "-workspace"), ("/home/user/my proj/", "-home-user-my proj"), ("/", "-")]
        {
            assert_eq!(slug(Path::new(cwd)), expected);
        }
        let deep = |last: &str| slug(Path::new(&format!("/{}{last}", "ü/".repeat(200))));
        assert!(deep("a").len() <= 255);
        assert_ne!(deep("a"), deep("b"));
    }
}
