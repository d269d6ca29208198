//! The scripted model from the outside: whole HTTP exchanges on loopback, and scripts as users write them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod client;
mod streams;
