//! Tests of the harness, and of the behaviour of real programs that the rest of the workspace relies on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod peers;
mod sandbox;
