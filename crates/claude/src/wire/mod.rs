//! The dialect of the Claude Code CLI: lines both ways as types that keep what they do not know.
//!
//! Only reading and printing: who answers what is `protocol`. The CLI has no published protocol version, so nothing here
//! fails on a field or a kind it has never seen.

pub(crate) mod content;
pub(crate) mod control;
pub(crate) mod hook;
pub(crate) mod lenient;
pub(crate) mod line;
pub(crate) mod message;
pub(crate) mod system;
