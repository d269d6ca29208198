//! Ids of sessions, and the names of the folders they lie in. An id is data and never a path: only a checked one touches the disk.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// The longest id.
const LONGEST: usize = 64;

/// The id of a session: letters, digits, `-` and `_` only, at most 64 of them.
///
/// ```
/// use musher_store::SessionId;
///
/// assert!("my-session_1".parse::<SessionId>().is_ok());
/// assert!("../../etc/passwd".parse::<SessionId>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Arc<str>);

/// A text that is no id of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a session id has 1 to 64 letters, digits, `-` and `_`")]
pub struct InvalidId;

impl SessionId {
    /// Checks a text.
    pub fn new(id: &str) -> Result<Self, InvalidId> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if id.is_empty() || id.len() > LONGEST || !id.bytes().all(is_plain) {
            return Err(InvalidId);
        }
        Ok(Self(id.into()))
    }

    /// [`SessionId::new`] for callers that report a wrong id in their own words.
    pub fn parse(id: &str) -> Option<Self> {
        Self::new(id).ok()
    }

    /// An id nobody has.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string().into())
    }

    /// The id as text.
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

/// The folder of the sessions of one directory: `/home/me/project` is `-home-me-project`.
pub fn slug(cwd: &Path) -> String {
    let path = cwd.to_string_lossy();
    let path = path.trim_end_matches(['/', '\\']).trim_start_matches(['/', '\\']);
    let mut slug = format!("-{}", path.replace(['/', '\\'], "-"));
    // no name may be longer; such a one keeps its beginning and stays its own by a hash
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
    fn only_plain_short_names_are_ids() {
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
    fn a_directory_is_one_folder_whatever_its_path() {
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
