//! `musher bridge` as an app sees it: with a stand-in for the CLI, and with the real one.

mod agents_fail;
mod bad_input;
mod ends;
mod examples;
mod flow;
mod peers;
mod stage;
