//! Integration tests of the client with working and misbehaving servers, proxies and names.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod addresses;
mod client;
mod peers;
mod proxies;
mod servers;
mod tls;
