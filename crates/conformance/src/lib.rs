//! The conformance suite: tests that run with any agent, the real droid or the engine.
//!
//! - [`sdk_features!`] and [`program_features!`] declare a test of each feature of the SDK's guide, with an agent that implements
//!   [`Target`]. [`old_droid_features!`] does so for an old droid.
//! - [`scenarios!`] declares a test of each file in `scenarios`: it is played with droid and with an [`Executable`] that replaces it,
//!   and the transcripts must be equal except for `known-differences.yaml`. [`clients!`] does the same with the clients of droid's vendor.
//!
//! The tests are declared in the crates that build the agents (`musher`, `musher-server`, `musher-cli`), because Cargo names a binary only
//! to the tests of its own package. Everything that does not depend on the agent is here, compiled once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

#[macro_use]
mod suite; // the macro that declares a list of tests

pub mod clients;
pub mod daemons;
pub mod features;
pub mod scenarios;
pub mod stage;
mod target;

pub use anyhow::Result;
pub use stage::Stage;
pub use target::{Executable, Target};
