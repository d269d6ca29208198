//! Integration tests with real processes.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod ends;
mod nested;
mod parent_death;
mod sandbox;
mod starts;
mod support;
