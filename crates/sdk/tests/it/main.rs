//! The SDK from outside: over memory with a scripted agent, and with the real droid.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod bad_input;
mod blocking;
mod cancelled_session;
mod daemon;
mod guide_names;
mod own_needs;
mod peers;
mod pending;
mod record;
mod rest;
mod silent_agent;
mod slow_reader;
