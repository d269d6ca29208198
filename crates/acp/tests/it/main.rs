//! The adapter in one process: an editor on one side, a scripted or recorded agent on the other.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod captures; // recorded traffic of the real droid
mod old_agents; // what old agents do that new ones do not
mod recording; // agents that play recordings
mod stage; // the editor
