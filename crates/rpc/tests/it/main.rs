//! Transports and the peer, from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod child;
mod lines;
mod peer;
mod raw_lines;
mod stdio;
mod stream;
mod support;
mod websocket;
