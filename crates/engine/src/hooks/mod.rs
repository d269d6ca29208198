//! Hooks: commands of the user that run at certain events, and may block or change what happens.
//!
//! - [`Hooks::new`] takes the configured groups; [`Hooks::fire`] runs those that match a [`HookEvent`] and returns one [`HookOutcome`]. A listener
//!   gets the start and end of each run ([`HookProgress`]).
//! - [`HookEvent`] is an event at which hooks run, with the JSON hooks read on standard input ([`HookEvent::input`]).
//! - [`outcome`] reads the decision of a hook from its exit code and output. Pure.
//!
//! A hook that exceeds its timeout is ended with everything it has started, and decides nothing. Whether hooks may run at all (trust,
//! `hooksDisabled`) is decided when the configuration is read and by the caller that creates [`Hooks`].

pub(crate) mod env_file;
mod event;
mod outcome;
mod process;
mod set;

pub use event::{About, HookEvent};
pub use outcome::{HookDecision, HookOutcome, outcome};
pub use process::{ProcessOutput, run_command};
pub use set::{HookProgress, Hooks, Place};
