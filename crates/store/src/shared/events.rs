//! The events of a session: numbered from 1, appended by one process, read from any position.

use std::fmt;

use crate::{Result, SessionId};

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its number: one more than that of the event before.
    pub sequence: u64,
    /// Its content: one line of text.
    pub payload: String,
}

/// The events of all sessions.
pub trait Events: fmt::Debug + Send + Sync {
    /// Opens the events of a session; there are none if it is new.
    fn open_events(&self, session: &SessionId) -> Result<Box<dyn EventLog>>;

    /// Deletes the events of a session.
    fn remove_events(&self, session: &SessionId) -> Result<()>;
}

/// The events of one session. One process at a time appends, any number reads.
pub trait EventLog: fmt::Debug + Send + Sync {
    /// Appends events, and returns the sequence of the last one. They are durable when this returns; on an error none of them is.
    ///
    /// A payload must not contain line breaks.
    fn append(&self, payloads: &[&str]) -> Result<u64>;

    /// Returns the sequence of the last event; 0 if there is none.
    fn last(&self) -> u64;

    /// Returns the sequence of the oldest event that is kept. Greater than [`last`](Self::last) if none is.
    fn first(&self) -> u64;

    /// Returns the events after a sequence, oldest first, about `max_bytes` of them and at least one if there is one.
    ///
    /// Begins with the oldest event that is kept if older ones are requested.
    fn read(&self, after: u64, max_bytes: usize) -> Result<Vec<Event>>;

    /// Releases what an idle log does not need, such as open files.
    fn rest(&self) {}
}
