//! The log of the session that is open. A session in which nothing was said leaves no file behind.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::Message;
use musher_store::{Log, NewSession, Record, Store, StoreError};

/// The log, or what is needed to begin it.
#[derive(Debug)]
pub(crate) enum Journal {
    /// Nothing is written yet.
    New(Store, Box<NewSession>),
    /// It is there.
    Open(Box<Log>),
}

impl Journal {
    /// Whether there is a file.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Where the log is, or will be.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::New(store, new) => store.place(&new.id, &new.cwd),
            Self::Open(log) => log.path(),
        }
    }

    /// The log, begun if it was not.
    pub(crate) fn open(
        &mut self,
        settings: impl FnOnce() -> Map<String, Value>,
    ) -> Result<&mut Log, StoreError> {
        if let Self::New(store, new) = self {
            let new = NewSession { settings: settings(), ..(**new).clone() };
            *self = Self::Open(Box::new(store.create(new)?));
        }
        match self {
            Self::Open(log) => Ok(log),
            Self::New(_, new) => Err(StoreError::NotFound(new.id.clone())),
        }
    }

    /// Adds a record to a log that is there. Without one there is nothing it could be about.
    pub(crate) fn note(&mut self, record: &Record) -> Result<(), StoreError> {
        match self {
            Self::New(..) => Ok(()),
            Self::Open(log) => log.append(record),
        }
    }

    /// Saves the settings, if there is a file already.
    pub(crate) fn save_settings(&mut self, settings: Map<String, Value>) -> Result<(), StoreError> {
        match self {
            Self::New(..) => Ok(()),
            Self::Open(log) => log.save_settings(settings),
        }
    }
}

/// A message as a record.
pub(crate) fn record(message: &Message) -> Record {
    Record::Message(Box::new(message.clone()))
}
