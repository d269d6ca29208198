//! Tests of the guarantees of the crate, with recorded traffic and with generated input.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod any_input;
mod bad_input;
mod old_versions;
mod recorded;
mod unknown_parts;
