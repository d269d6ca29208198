//! Sessions on disk: append-only, repaired before the first write, written by one process at a time.
//!
//! A session is `<home>/sessions/<slug of its directory>/<id>.jsonl`, one JSON object per line, with a settings file next to it.
//! This is droid's layout, so that droid's SDKs list the sessions of musher, and musher loads those of droid. The rules:
//!
//! - Acknowledged records are on disk. A record is one write; [`Log::append`] returns after it is in the file.
//! - A log opens even if it was truncated or overwritten. All complete records are kept, and the rest is reported once, in
//!   [`Damage`]. Only a log larger than any conversation is rejected, because it would have to fit into memory; it can still be read
//!   message by message ([`Store::read_messages`]), forked, imported and renamed.
//! - No file is changed in place. Changed files, and a log with a new title in its first line, are replaced atomically.
//! - A session has one writer at a time: the process that has its lease. It holds the lease while a turn runs or while it changes
//!   something, not while it has the session open: see [`Released`]. Reading needs no lease.
//! - All files are private to the user, and symbolic links are not followed.
//! - Names read from disk are untrusted. Only [`SessionId`] and `ContentHash`, which validate them, become part of a path.
//!
//! The API is synchronous: records are small, and callers wait for their writes anyway.

mod branch;
mod disk;
mod entries;
mod error;
mod fork;
mod hash;
mod id;
mod import;
mod lease;
mod list;
mod log;
mod message_form;
mod open;
mod outline;
mod paths;
mod reading;
mod record;
mod released;
mod remove;
mod scan;
mod settings_file;
pub mod shared;
mod side;
mod snapshots;

pub use entries::{Entries, Entry};
pub use error::{Result, StoreError};
pub use id::{InvalidId, SessionId, slug};
pub use lease::{LastLease, Lease, Leases, Purpose};
pub use list::Summary;
pub use log::Log;
pub use open::{Compacted, Damage, Loaded, NewSession, Store, Stored};
pub use reading::Reading;
pub use record::{Compaction, Record, Start};
pub use released::{Acquired, Attached, Released};
pub use snapshots::{Restored, RewindFiles, SnapshotFile, SnapshotLimits};

/// The failures that a written record survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, including crashes.
    #[default]
    Process,
    /// Power loss as well: [`Log::sync`] waits for the storage medium.
    Power,
}

#[cfg(test)]
mod tests;
