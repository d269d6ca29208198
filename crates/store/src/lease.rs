//! The lease of a session: the right to write it. One process has it at a time, while a turn runs or while it changes something.
//!
//! [`Leases`] is the seam for storage whose processes are on several machines. [`FileLeases`](files::FileLeases) is the implementation for
//! one machine: a lock of the kernel. What belongs together is always the same: a lease has a token that is greater than those of all
//! leases before it, so a writer whose lease has passed to another one is recognized by its token and writes nothing.

pub(super) mod files;

use std::fmt;
use std::path::Path;

use super::SessionId;
use super::error::{Result, StoreError};

/// Why a process takes a lease. Others do not wait for a turn, but they wait a moment for the end of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A turn: held until it ends, which can take hours.
    Turn,
    /// A change, such as a new title: held for a moment.
    Change,
}

/// The last known lease of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LastLease {
    /// Its token; 0 if there was none.
    pub token: u64,
    /// The process that holds it, unless it has released it. A process that was killed is still named here.
    pub holder: Option<u32>,
}

/// Gives out the leases of sessions.
pub trait Leases: fmt::Debug + Send + Sync {
    /// Takes the lease of a session whose files are in this folder.
    ///
    /// Fails with [`StoreError::Locked`] while another process has it.
    fn take(&self, id: &SessionId, folder: &Path, purpose: Purpose) -> Result<Box<dyn Lease>>;

    /// Returns the last lease of a session, without taking one.
    fn last(&self, id: &SessionId, folder: &Path) -> LastLease;
}

/// A lease. Dropping it releases it.
pub trait Lease: fmt::Debug + Send {
    /// Returns the fencing token: greater than those of all leases of the session before.
    fn token(&self) -> u64;

    /// Fails with [`StoreError::NotOwned`] if another process has taken over the session. Called before each write.
    fn check(&self) -> Result<()>;

    /// Returns whether other writers are locked out. If not, they are only detected by [`check`](Self::check).
    fn is_exclusive(&self) -> bool;
}

/// Stands for the lease of a log that has none: every write is refused.
#[derive(Debug)]
pub(super) struct NoLease(pub(super) SessionId);

impl Lease for NoLease {
    fn token(&self) -> u64 {
        0
    }

    fn check(&self) -> Result<()> {
        Err(StoreError::NotOwned { id: self.0.clone() })
    }

    fn is_exclusive(&self) -> bool {
        false
    }
}
