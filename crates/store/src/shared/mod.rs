//! What the processes of a fleet share about sessions, each behind one trait: events by sequence, prompts with receipts, open requests,
//! spending.
//!
//! A daemon knows only these traits and [`Leases`](crate::Leases). [`DaemonFiles`] is the implementation for one machine, in files below
//! `<home>/daemon`; [`conformance`] checks that another implementation keeps the same promises.
//!
//! Files and not a database: the events of a session are appended by one process and read in order, so a log with a sparse index is
//! both the smallest and the fastest form, and a reader can follow it with any tool.

pub mod conformance;
mod events;
mod files;
mod inbox;
mod lines;
mod prompts;
mod spending;

pub use events::{Event, EventLog, Events};
pub use files::{DaemonFiles, DaemonLock};
pub use inbox::{Inbox, InboxItem};
pub use prompts::{PromptQueue, QueuedPrompt, Receipt};
pub use spending::{Ledger, Spent};
