//! Spending: a file for the day, and one for each session.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::super::Spent;
use crate::SessionId;
use crate::disk::{self, Disk};
use crate::error::{At as _, Result};

const FILE: &str = "spending.json";
/// Maximum size of a file.
const MAX_FILE: u64 = 4096;

/// The files with what was spent.
#[derive(Debug)]
pub(super) struct SpendingFiles {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    /// Held while files are read and written.
    writing: Mutex<()>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Stored {
    #[serde(skip_serializing_if = "String::is_empty")]
    day: String,
    tokens: u64,
    nanos: u64,
}

impl Stored {
    fn amount(&self) -> Spent {
        Spent { tokens: self.tokens, nanos: self.nanos }
    }

    fn add(&mut self, amount: Spent) {
        let Spent { tokens, nanos } = self.amount().plus(amount);
        (self.tokens, self.nanos) = (tokens, nanos);
    }
}

impl SpendingFiles {
    pub(super) fn new(disk: Arc<dyn Disk>, folder: PathBuf) -> Self {
        Self { disk, folder, writing: Mutex::default() }
    }

    pub(super) fn spend(&self, session: &SessionId, day: &str, amount: Spent) -> Result<()> {
        let _writing = self.lock();
        let (path, of_session) = (self.day_path(), self.session_path(session));
        let mut today = read(&path)?;
        if *today.day < *day {
            today = Stored { day: day.to_owned(), ..Stored::default() };
        }
        today.add(amount);
        let mut own = read(&of_session)?;
        own.add(amount);
        self.write(&path, &today)?;
        self.write(&of_session, &own)
    }

    pub(super) fn spent(&self, session: &SessionId, day: &str) -> Result<(Spent, Spent)> {
        let _writing = self.lock();
        let today = read(&self.day_path())?;
        let of_day = if *today.day < *day { Spent::default() } else { today.amount() };
        Ok((read(&self.session_path(session))?.amount(), of_day))
    }

    fn write(&self, path: &Path, stored: &Stored) -> Result<()> {
        if let Some(folder) = path.parent() {
            disk::make_folder(folder)?;
        }
        // printing cannot fail: there are only texts and numbers in it
        self.disk.replace(path, &serde_json::to_vec(stored).unwrap_or_default(), false)
    }

    fn day_path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    fn session_path(&self, session: &SessionId) -> PathBuf {
        self.folder.join("sessions").join(session.as_str()).join(FILE)
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a file. One that is damaged counts as empty: files are replaced as a whole, so that only a person can have damaged it.
fn read(path: &Path) -> Result<Stored> {
    match disk::read_small(path, MAX_FILE) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_else(|error| {
            tracing::warn!(%error, path = %path.display(), "a damaged ledger starts again");
            Stored::default()
        })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Stored::default()),
        Err(error) => Err(error).at("read", path),
    }
}
