//! What the model is told before the user's first words: our system prompt, the surroundings, the repository's own notes, and lists.
//!
//! - [`system_prompt`] is our prompt, or the client's, or ours with the client's behind it; [`subagent_prompt`] is a subagent's.
//! - [`Facts::read`] looks at the working folder: date, platform, version control ([`Git`]), what lies there, `AGENTS.md` files.
//! - [`reminders`] turns facts and lists (skills, subagents, deferred tools) into the blocks of the hidden first message;
//!   [`mode_reminder`] says what planning means when it begins.
//! - [`FolderNotes`] finds the `AGENTS.md` of sub-folders, each once, when a path below is first touched.
//!
//! Everything but [`Facts::read`] and [`FolderNotes::read`] is a pure function. Nothing here starts a program.

mod facts;
mod git;
mod notes;
mod prompt;
mod reminders;

pub use facts::Facts;
pub use git::{Git, Repository};
pub use notes::{FolderNotes, Note};
pub use prompt::{subagent_prompt, system_prompt};
pub use reminders::{Listed, Lists, folders_reminder, mode_reminder, note_reminder, reminders};
