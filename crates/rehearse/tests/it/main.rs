//! The scripted model from the outside: scripts as users write them, formats as clients see them, HTTP on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod client; // a minimal HTTP client
mod faults; // errors, cuts and hangs over HTTP
mod formats; // complete answers of each vendor, compared with files
mod matching; // requests of agents, and the reply each gets
mod requests; // limits, recording, unknown paths
mod scripts; // reading scripts and the errors in them
mod streams; // complete answers over HTTP, starting and stopping
