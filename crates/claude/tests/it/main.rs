//! Tests of the driver with the real Claude Code.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod peers;
