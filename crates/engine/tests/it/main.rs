//! Agents end to end: commands in, events out, with a scripted model in process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "tests of tools come next")]

mod scripted;
mod stage;
mod text_turns;
