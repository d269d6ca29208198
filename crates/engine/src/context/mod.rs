//! The context before the first prompt: the system prompt, the environment, the notes of the repository, and lists.
//!
//! - [`system_prompt`] is the built-in prompt for a family of models ([`ModelFamily`]), the client's, or both; [`subagent_prompt`] is the
//!   prompt of a subagent.
//! - [`Facts::read`] reads date, platform, git state ([`Git`]), directory entries and instruction files.
//! - [`working_tree`] asks git for uncommitted changes.
//! - [`reminders`] turns facts and lists (skills, subagents, deferred tools) into the blocks of the hidden context message;
//!   [`mode_reminder`] explains a mode when the session enters it.
//! - [`FolderNotes`] finds the instruction files of subdirectories, each once, when a path below is first used.
//! - [`OpenTodos`] reminds the model of steps it has left open.
//!
//! All functions except [`Facts::read`], [`FolderNotes::read`] and [`working_tree`] are pure. Only the last one starts a program.

mod facts;
mod family;
mod git;
mod notes;
mod prompt;
mod reminders;
mod todos;
mod worktree;

pub use facts::Facts;
pub use family::ModelFamily;
pub use git::{Git, Repository};
pub use notes::{FolderNotes, Note};
pub use prompt::{subagent_prompt, system_prompt};
pub use reminders::{
    Listed, Lists, deferred_reminder, folders_reminder, is_note_reminder, mode_reminder, note_reminder,
    reminders,
};
pub use todos::OpenTodos;
pub use worktree::working_tree;
