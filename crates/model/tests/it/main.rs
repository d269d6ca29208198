//! Integration tests: complete bodies and streams of each format, and every fault over HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod bodies;
mod contracts;
mod faults;
mod snapshot;
mod streams;
mod transport;
