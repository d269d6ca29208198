//! Agents end to end: commands in, events out, with a scripted model in process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod added_tool;
mod compaction;
mod endings;
mod hooks;
mod many_calls;
mod peers;
mod planning;
mod reminders;
mod sandbox;
mod scripted;
mod sessions;
mod settings;
mod shared_sessions;
mod spending;
mod stage;
mod stored_sessions;
mod subagents;
mod text_turns;
mod thinking;
mod tool_lists;
mod tool_results;
mod tool_turns;
