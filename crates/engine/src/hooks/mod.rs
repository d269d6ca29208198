//! Hooks: commands of the user that run at certain moments, are told what happens, and may have a say in it.
//!
//! - [`Hooks::new`] takes the configured groups; [`Hooks::fire`] runs those that fit a [`Moment`] and gives one [`HookOutcome`]. Each run is
//!   told to a listener as it begins and ends ([`HookNews`]).
//! - [`Moment`] is everything a hook can run at, with what it is told on its standard input ([`Moment::input`]).
//! - [`outcome`] reads what a hook wants from its exit code and output: a pure function.
//!
//! A hook that takes too long is ended with everything it started; it has no say then. Whether hooks may run at all (trust,
//! `hooksDisabled`) is decided when the configuration is read and by who makes a [`Hooks`].

pub(crate) mod env_file;
mod moment;
mod outcome;
mod process;
mod set;

pub use moment::{About, Moment};
pub use outcome::{HookOutcome, Verdict, outcome};
pub use process::{ProcessOutput, run_command};
pub use set::{HookNews, Hooks, Place};
