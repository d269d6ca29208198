//! The log of the open session, which this process owns while a turn runs or while it changes something.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::Message;
use musher_store::{Acquired, Log, NewSession, Purpose, Record, Released, Store, StoreError, Stored};

/// The log of a session.
#[derive(Debug)]
pub(crate) enum Journal {
    /// There is no file yet.
    New(Store, Box<NewSession>),
    /// This process owns the session.
    Owned(Box<Log>),
    /// This process does not own the session: others may write it.
    Released(Box<Released>),
}

impl Journal {
    /// Returns whether this process owns the session, and may write its log.
    pub(crate) fn is_owned(&self) -> bool {
        matches!(self, Self::Owned(_))
    }

    /// Returns whether there is no file yet.
    pub(crate) fn is_new(&self) -> bool {
        matches!(self, Self::New(..))
    }

    /// Returns the path of the file, also if there is none yet.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::New(store, new) => store.place(&new.id, &new.cwd),
            Self::Owned(log) => log.path(),
            Self::Released(released) => released.path(),
        }
    }

    /// Takes the lease of the session. Returns its content if others have written it since it was released.
    pub(crate) fn acquire(&mut self, purpose: Purpose) -> Result<Option<Stored>, StoreError> {
        let Self::Released(released) = self else { return Ok(None) };
        let (log, stored) = match released.acquire(purpose)? {
            Acquired::Unchanged(log) => (log, None),
            Acquired::Changed(loaded) => (Box::new(loaded.log), Some(loaded.session)),
        };
        *self = Self::Owned(log);
        Ok(stored)
    }

    /// Releases the lease.
    pub(crate) fn release(&mut self) {
        if let Self::Owned(log) = self {
            *self = Self::Released(Box::new(log.release()));
        }
    }

    /// Returns the log, created if there is none yet. Fails if this process does not own the session.
    pub(crate) fn open(
        &mut self,
        settings: impl FnOnce() -> Map<String, Value>,
    ) -> Result<&mut Log, StoreError> {
        if let Self::New(store, new) = self {
            let new = NewSession { settings: settings(), ..(**new).clone() };
            *self = Self::Owned(Box::new(store.create(new)?));
        }
        match self {
            Self::Owned(log) => Ok(log),
            Self::New(_, new) => Err(StoreError::NotFound(new.id.clone())),
            Self::Released(released) => Err(StoreError::NotOwned { id: released.id().clone() }),
        }
    }

    /// Appends a record, if there is a file.
    pub(crate) fn note(&mut self, record: &Record) -> Result<(), StoreError> {
        if self.is_new() { Ok(()) } else { self.open(Map::new)?.append(record) }
    }

    /// Saves the settings, if there is a file.
    pub(crate) fn save_settings(&mut self, settings: Map<String, Value>) -> Result<(), StoreError> {
        if self.is_new() { Ok(()) } else { self.open(Map::new)?.save_settings(settings) }
    }
}

/// Returns a message as a record.
pub(crate) fn record(message: &Message) -> Record {
    Record::Message(Box::new(message.clone()))
}
