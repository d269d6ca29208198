//! The client from outside: servers, proxies and names that behave, and those that do not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod addresses;
mod client;
mod peers;
mod proxies;
mod stage;
mod tls;
