//! The log of the open session. It gets a file with the first message: an unused session leaves no file behind.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::Message;
use musher_store::{Log, NewSession, Record, Store, StoreError};

/// The log, or what is needed to create it.
#[derive(Debug)]
pub(crate) enum Journal {
    /// There is no file yet.
    New(Store, Box<NewSession>),
    /// There is a file.
    Open(Box<Log>),
}

impl Journal {
    /// Whether there is a file.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// The path of the file, also if there is none yet.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::New(store, new) => store.place(&new.id, &new.cwd),
            Self::Open(log) => log.path(),
        }
    }

    /// The log, created if there is none yet.
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

    /// Appends a record, if there is a file.
    pub(crate) fn note(&mut self, record: &Record) -> Result<(), StoreError> {
        match self {
            Self::New(..) => Ok(()),
            Self::Open(log) => log.append(record),
        }
    }

    /// Saves the settings, if there is a file.
    pub(crate) fn save_settings(&mut self, settings: Map<String, Value>) -> Result<(), StoreError> {
        match self {
            Self::New(..) => Ok(()),
            Self::Open(log) => log.save_settings(settings),
        }
    }
}

/// Returns a message as a record.
pub(crate) fn record(message: &Message) -> Record {
    Record::Message(Box::new(message.clone()))
}
