//! Errors in messages. Parsing a line never fails; reading its payload as a type may.

use std::fmt;

/// A payload that does not match the type of its method. The frame still holds its text.
#[derive(Debug, thiserror::Error)]
#[error("invalid payload of `{method}`{path}")]
pub struct ShapeError {
    /// The method that the payload belongs to.
    pub method: Box<str>,
    /// Place of the error in the payload, such as `params.toolUses[0].details`.
    pub path: Path,
    /// The error of the parser.
    #[source]
    pub source: serde_json::Error,
}

/// A place in a payload. Displayed as ` at params.a.b`, or as nothing if the payload is missing or not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(pub(crate) String);

impl Path {
    /// Returns the path as text, such as `params.toolUses[0].details`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " at {}", self.0) }
    }
}

/// Why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    NotJson(Box<str>),
    /// The text is JSON, but not an object.
    #[error("not a JSON object")]
    NotAnObject,
    /// The text is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    #[error("nested deeper than {}", crate::MAX_DEPTH)]
    TooDeep,
    /// The line exceeds the reader's limit; only its beginning was kept.
    #[error("longer than {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The object is not a request, response or notification.
    #[error("{0}")]
    NotAMessage(&'static str),
}
