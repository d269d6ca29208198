//! Secrets: keys that never appear in output, so that types holding one can derive `Debug`, and redaction of texts.
//!
//! Deliberately not serializable. Only [`Secret::expose`] returns the text, which makes every use easy to find.

use std::fmt;

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// A key or token. Displayed as `***`; its memory is zeroed on drop.
///
/// ```
/// use musher_model::Secret;
///
/// let key = Secret::new("sk-very-secret");
/// assert_eq!(format!("{key:?} {key}"), "*** ***");
/// assert_eq!(key.expose(), "sk-very-secret");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps a text as a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// Returns the text. For sending only: never log or display it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

/// Replaces known secrets, and everything that looks like a key, by `***`.
///
/// Vendors repeat keys in error messages, shortened or in full; such a message must not reach a log or a session file.
///
/// ```
/// use musher_model::{Secret, redact};
///
/// let key = Secret::new("hunter2-hunter2");
/// assert_eq!(redact("bad key hunter2-hunter2", &[&key]), "bad key ***");
/// assert_eq!(redact("Incorrect API key provided: sk-proj-abc***wxyz.", &[]), "Incorrect API key provided: ***.");
/// ```
pub fn redact(text: &str, secrets: &[&Secret]) -> String {
    let mut clean = text.to_owned();
    for secret in secrets.iter().filter(|secret| secret.expose().len() >= MIN_KEY_LENGTH) {
        clean = clean.replace(secret.expose(), "***");
    }
    let mut out = String::with_capacity(clean.len());
    let mut rest = clean.as_str();
    while let Some((start, end)) = next_key(rest) {
        out.push_str(&rest[..start]);
        out.push_str("***");
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Minimum length of a key in bytes. Replacing shorter texts would garble ordinary words.
const MIN_KEY_LENGTH: usize = 6;
const PREFIXES: [&str; 9] = ["sk-", "fk-", "ghp_", "gho_", "github_pat_", "xai-", "gsk_", "AIza", "Bearer "];

/// Finds the first part of `text` that looks like a key, as a range of bytes.
fn next_key(text: &str) -> Option<(usize, usize)> {
    let found = PREFIXES.iter().filter_map(|prefix| {
        let mut from = 0;
        while let Some(at) = text[from..].find(prefix).map(|at| at + from) {
            let starts_word = !text[..at].ends_with(|before: char| before.is_ascii_alphanumeric());
            let body = text[at + prefix.len()..].find(|c: char| !is_key_char(c));
            let end = body.map_or(text.len(), |length| at + prefix.len() + length);
            let end = at + text[at..end].trim_end_matches('.').len();
            if starts_word && end - at >= prefix.len() + MIN_KEY_LENGTH {
                return Some((at, end));
            }
            from = at + prefix.len();
        }
        None
    });
    found.min()
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '.' | '+' | '/' | '=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redact_replaces_everything_that_looks_like_a_key() {
        let cases = [
            ("key sk-ant-api03-abcdef, next", "key ***, next"),
            ("Authorization: Bearer abc.def-ghi", "Authorization: ***"),
            ("two sk-111111 and ghp_222222", "two *** and ***"),
            ("risk-averse task-oriented", "risk-averse task-oriented"),
            ("sk-1", "sk-1"),
            ("größe sk-größe", "größe sk-größe"),
        ];
        for (text, clean) in cases {
            assert_eq!(redact(text, &[]), clean);
        }
    }

    #[test]
    fn redact_ignores_secrets_that_are_too_short() {
        assert_eq!(redact("a cat", &[&Secret::new("a")]), "a cat");
        assert_eq!(redact("", &[&Secret::new("")]), "");
    }
}
