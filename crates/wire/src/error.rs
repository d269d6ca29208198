//! What can be wrong with a message, as values: reading a line never fails, reading its payload may.

use std::fmt;

/// A payload that does not have the shape its method or type promises. The frame still holds its text.
#[derive(Debug, thiserror::Error)]
#[error("`{method}`: {path}{source}")]
pub struct ShapeError {
    /// The method whose payload it is.
    pub method: Box<str>,
    /// Where in the payload, as `params.toolUses[0].details`.
    pub path: Path,
    /// What the parser says.
    #[source]
    pub source: serde_json::Error,
}

/// A place in a payload; prints as `params.a.b: ` or as nothing when the payload is missing or no JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(pub(crate) String);

impl Path {
    /// The path as text, such as `params.toolUses[0].details`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{}: ", self.0) }
    }
}

/// Why a line is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    NotJson(Box<str>),
    /// The text is JSON, but not an object.
    #[error("not a JSON object")]
    NotAnObject,
    /// The text nests deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    #[error("nested deeper than {}", crate::MAX_DEPTH)]
    TooDeep,
    /// The line was longer than the reader allows; only its beginning was kept.
    #[error("longer than {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The object is neither request, response nor notification.
    #[error("{0}")]
    NoMessage(&'static str),
}
