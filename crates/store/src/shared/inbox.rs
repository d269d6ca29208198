//! What waits for a person, across all sessions: permission requests and questions.

use std::fmt;

use crate::{Result, SessionId};

/// A request that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxItem {
    /// The id of the request, unique across sessions.
    pub request_id: String,
    /// The session whose agent asks.
    pub session: SessionId,
    /// Everything else, as one line of text that only its writer reads.
    pub body: String,
}

/// The requests of all sessions.
pub trait Inbox: fmt::Debug + Send + Sync {
    /// Adds a request, or replaces one that is open. Durable when this returns.
    fn put(&self, item: &InboxItem) -> Result<()>;

    /// Closes a request. Returns whether it was open: of several that close it, exactly one gets `true`, and only its answer counts.
    fn close(&self, request_id: &str) -> Result<bool>;

    /// Returns the open requests, oldest first.
    fn open_items(&self) -> Result<Vec<InboxItem>>;
}
