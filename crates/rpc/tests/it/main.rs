//! Transports and the peer, from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod child;
mod peer;
mod support;
mod websocket;
