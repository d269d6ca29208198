//! The harness itself, and the real programs in it: each test says what a peer does that the rest of the workspace relies on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod peers;
mod sandbox;
