//! Sessions on disk: append-only, healed before the first write, locked against a second writer.
//!
//! A session is `<home>/sessions/<slug of its directory>/<id>.jsonl`, one JSON object per line, with a settings file beside it:
//! the layout of droid, so that its SDKs list our sessions and we load its. The rules:
//!
//! - What was acknowledged was written. A record is one write; [`Log::append`] returns when it is in the file.
//! - A log always opens, whatever was torn, cut or overwritten. All whole records are kept, the rest is in [`Damage`], once. Only one
//!   that is larger than any conversation is refused, because all of it would have to be in memory.
//! - Nothing is changed in place. Files that change, and a log whose first line gets a new title, are replaced whole.
//! - All is private to the user, and no link is followed.
//! - A name that is read from disk is data. Only [`SessionId`] and `ContentHash`, which check it, become part of a path.
//!
//! All of it is synchronous: records are small, and whoever writes one waits for it anyway.

mod branch;
mod disk;
mod error;
mod fork;
mod hash;
mod id;
mod import;
mod list;
mod lock;
mod log;
mod message_form;
mod open;
mod paths;
mod record;
mod remove;
mod scan;
mod settings_file;
mod side;
mod snapshots;

pub use error::{Result, StoreError};
pub use id::{InvalidId, SessionId, slug};
pub use list::Summary;
pub use log::Log;
pub use open::{Compacted, Damage, Loaded, NewSession, Store, Stored};
pub use record::{Compaction, Record, Start};
pub use snapshots::{Restored, RewindFiles, SnapshotFile, SnapshotLimits};

/// What a record outlasts once it is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, however it comes.
    #[default]
    Process,
    /// A power cut, too: [`Log::sync`] waits for the medium.
    Power,
}

#[cfg(test)]
mod tests;
