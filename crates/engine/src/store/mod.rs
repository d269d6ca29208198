//! Sessions on disk: append-only, healed on opening, locked against a second writer.

use std::sync::Arc;

/// The id of a session: letters, digits, `-` and `_` only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// A new one.
    pub(crate) fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string().into())
    }

    /// Reads one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        ((1..=64).contains(&text.len()) && text.bytes().all(is_fine)).then(|| Self(text.into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
