//! `musher bridge` as an app sees it: with a stand-in for the CLI, with the engine, and with real agents.

mod agents_fail;
mod alone;
mod bad_input;
mod ends;
mod engine;
mod examples;
mod flow;
mod logging;
mod peers;
mod stage;
