//! A key that never prints: what holds one may derive `Debug`, and what is logged is cleaned of it first.
//!
//! Not serialisable on purpose. The text leaves through [`Secret::expose`] only, which is easy to search for.

use std::fmt;

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// A key or token. Prints as stars, and its memory is wiped when it is dropped.
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
    /// Takes a text as a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself, to be sent and nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing to keep secret.
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

/// Replaces known secrets, and whatever looks like one, by stars.
///
/// Vendors repeat keys in their error texts, shortened or whole; such a text must not reach a log or a session file.
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
    for secret in secrets.iter().filter(|secret| secret.expose().len() >= SHORTEST) {
        clean = clean.replace(secret.expose(), "***");
    }
    let mut out = String::with_capacity(clean.len());
    let mut rest = clean.as_str();
    while let Some((start, end)) = next_shape(rest) {
        out.push_str(&rest[..start]);
        out.push_str("***");
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Shorter texts are no keys, and replacing them would garble ordinary words.
const SHORTEST: usize = 6;
const PREFIXES: [&str; 9] = ["sk-", "fk-", "ghp_", "gho_", "github_pat_", "xai-", "gsk_", "AIza", "Bearer "];

/// The first thing that looks like a key, as a range of bytes.
fn next_shape(text: &str) -> Option<(usize, usize)> {
    let found = PREFIXES.iter().filter_map(|prefix| {
        let mut from = 0;
        while let Some(at) = text[from..].find(prefix).map(|at| at + from) {
            let starts_word = !text[..at].ends_with(|before: char| before.is_ascii_alphanumeric());
            let body = text[at + prefix.len()..].find(|c: char| !is_key_char(c));
            let end = body.map_or(text.len(), |length| at + prefix.len() + length);
            let end = at + text[at..end].trim_end_matches('.').len();
            if starts_word && end - at >= prefix.len() + SHORTEST {
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
    fn shapes_of_keys_are_replaced_wherever_they_stand() {
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
    fn a_short_secret_does_not_garble_the_text() {
        assert_eq!(redact("a cat", &[&Secret::new("a")]), "a cat");
        assert_eq!(redact("", &[&Secret::new("")]), "");
    }
}
