//! The dialect of the Claude Code CLI: lines in both directions, as types that keep unknown fields.
//!
//! Parsing and serializing only; `protocol` handles the conversation. The CLI has no published protocol version, so nothing here fails on
//! an unknown field or kind.

pub(crate) mod content;
pub(crate) mod control;
pub(crate) mod hook;
pub(crate) mod lenient;
pub(crate) mod line;
pub(crate) mod message;
pub(crate) mod system;
