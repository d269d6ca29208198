//! A regular expression that keeps its source, so that scripts can be printed and compared.

use std::borrow::Cow;

use regex::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Error;

/// A regular expression, found anywhere in the text unless anchored.
///
/// The syntax is that of the [`regex`](https://docs.rs/regex) crate; a leading `(?i)` ignores case. A pattern made from a `&str` matches
/// that text literally.
///
/// ```
/// use musher_rehearse::Pattern;
/// assert!(Pattern::new("(?i)list .* files")?.matches("List all files, please"));
/// assert!(Pattern::from("1 + 1").matches("what is 1 + 1?"));
/// # Ok::<(), musher_rehearse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    matcher: Matcher,
}

#[derive(Debug, Clone)]
enum Matcher {
    Regex(Regex),
    Literal(String),
}

impl Pattern {
    /// Compiles a regular expression.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        match Regex::new(pattern) {
            Ok(regex) => Ok(Self { source: pattern.to_owned(), matcher: Matcher::Regex(regex) }),
            Err(error) => {
                Err(Error::Pattern { pattern: pattern.to_owned(), message: last_line(&error.to_string()) })
            }
        }
    }

    /// Returns whether the pattern is found in `text`.
    pub fn matches(&self, text: &str) -> bool {
        match &self.matcher {
            Matcher::Regex(regex) => regex.is_match(text),
            Matcher::Literal(literal) => text.contains(literal),
        }
    }

    /// Returns the pattern as a regular expression.
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        Self { source: regex::escape(text), matcher: Matcher::Literal(text.to_owned()) }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Pattern;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a regular expression")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Pattern, E> {
                Pattern::new(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "regex",
            "description": "A regular expression, found anywhere in the text unless anchored; (?i) in front ignores case."
        })
    }
}

/// Returns the last line of an error of the regex crate, which points at the mistake over several lines.
fn last_line(message: &str) -> String {
    let line = message.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
