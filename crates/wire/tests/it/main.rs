//! The promises of the crate, over recorded traffic and over anything else.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod any_input;
mod bad_input;
mod old_versions;
mod recorded;
mod unknown_parts;
