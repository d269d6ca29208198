//! The context before the first prompt: the system prompt, the environment, the notes of the repository, and lists.
//!
//! - [`system_prompt`] is the built-in prompt, the client's, or both; [`subagent_prompt`] is the prompt of a subagent.
//! - [`Facts::read`] reads date, platform, git state ([`Git`]), directory entries and `AGENTS.md` files.
//! - [`reminders`] turns facts and lists (skills, subagents, deferred tools) into the blocks of the hidden context message;
//!   [`mode_reminder`] explains a mode when the session enters it.
//! - [`FolderNotes`] finds the `AGENTS.md` of subdirectories, each once, when a path below is first used.
//!
//! All functions except [`Facts::read`] and [`FolderNotes::read`] are pure. Nothing here starts a program.

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
