//! Why a change of servers or tools was refused.

/// Why a change was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request does not describe a server.
    #[error("{0}")]
    Invalid(String),
    /// The change could not be made.
    #[error("{0}")]
    Failed(String),
}
