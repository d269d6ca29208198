//! The agent itself: sessions, turns, consent, planning, MCP clients, and sessions on disk.
//!
//! What is not here: the wire. Whoever serves a client turns its messages into commands and the engine's events into messages.

mod config;
mod context;
mod hooks;
mod mcp;
mod permission;
mod skills;
mod store;
