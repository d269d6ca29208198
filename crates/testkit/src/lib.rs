//! Test support: real agents in a network namespace, scripted models, captures.
//!
//! The real programs are [`peers`], fetched once by `cargo xtask peers`. A test requests one with [`require_peer!`], creates a [`Sandbox`],
//! starts the scripted model inside it and talks to the [`Program`]; [`Sandbox::finish`] fails if anything is left running.
//!
//! Only tests and `xtask` use this crate. It runs on Linux only, because it needs network namespaces.

pub mod bench;
pub mod capture;
pub mod claude;
pub mod droid;
pub mod engine;
pub mod peers;
pub mod shell_lines;

mod backend;
mod model;
mod pdf;
mod program;
mod sandbox;

pub use backend::Backend;
#[doc(no_inline)]
pub use musher_rehearse as rehearse;
pub use pdf::pdf;
pub use program::{Ended, Program};
pub use sandbox::{Launch, Leftover, MARKER, README, Sandbox};
