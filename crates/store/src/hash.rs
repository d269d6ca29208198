//! Hashes of contents, which are also the names of the files that hold the contents.
//!
//! A hash read from disk is untrusted: it may be `../../x` or `/etc/passwd`. Only [`ContentHash`] becomes part of a path, and it can
//! only be created by hashing a content or by validating a text.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The SHA-256 of a content: 64 lower-case hexadecimal digits, and therefore always a valid file name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct ContentHash(String);

impl ContentHash {
    /// Hashes a content.
    pub(super) fn of(content: &[u8]) -> Self {
        Self(hex(content))
    }

    /// Validates a text as a hash.
    pub(super) fn parse(text: &str) -> Option<Self> {
        is_hex(text).then(|| Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ContentHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if is_hex(&text) {
            Ok(Self(text))
        } else {
            Err("invalid hash: it must consist of 64 hexadecimal digits")
        }
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        hash.0
    }
}

/// Returns the SHA-256 of bytes, as 64 hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // writing to a string cannot fail
        write!(hex, "{byte:02x}").ok();
    }
    hex
}

fn is_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_64_hexadecimal_digits_are_a_hash() {
        let hash = ContentHash::of(b"content");
        assert_eq!(ContentHash::parse(hash.as_str()), Some(hash.clone()));
        let json = serde_json::to_string(&hash).unwrap();
        assert_eq!(serde_json::from_str::<ContentHash>(&json).unwrap(), hash);
        let (long, upper) = ("a".repeat(65), "A".repeat(64));
        let slash = format!("/{}", "a".repeat(63));
        let dots = format!("../{}", "a".repeat(61));
        let nul = format!("{}\0", "a".repeat(63));
        for text in ["", ".", "..", "/etc/passwd", "../../x", "a/b", &long, &upper, &slash, &dots, &nul] {
            assert_eq!(ContentHash::parse(text), None, "{text}");
            let json = serde_json::to_string(text).unwrap();
            assert!(serde_json::from_str::<ContentHash>(&json).is_err(), "{text}");
        }
    }
}
