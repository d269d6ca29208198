//! The adapter in one process: an editor on one side, a scripted or recorded agent on the other.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod actor; // an agent that does what a function says
mod captures; // recorded traffic of the real droid
mod editor_requests; // files and terminals of the editor for agents
mod isolation; // failures and limits of one session
mod old_agents; // what old agents do that new ones do not
mod raw_editor; // an editor that writes and reads lines
mod recording; // agents that play recordings
mod robust; // bad lines, cancelled starts, two prompts at once
mod slow_editor; // an editor that does not read
mod stage; // an editor on the official crate
