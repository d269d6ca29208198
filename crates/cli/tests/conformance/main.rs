//! What an official client sees of `musher exec`, beside what it sees of the real droid.
//!
//! The scenarios and the list of known differences are data, in the folder `conformance` at the top of the repository, whose
//! README says how to write one. Here they are played and compared.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod compare; // two transcripts -> their differences
mod known; // the list of known differences
mod normalise; // a transcript without what differs by chance
mod peers; // the tests: every scenario with both programs
mod scenario; // the files, and playing one
