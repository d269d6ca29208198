//! Sessions on disk: append-only, healed on opening, locked against a second writer.

use std::sync::Arc;

/// The id of a session: letters, digits, `-` and `_` only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
