//! Between the two protocols: pure functions, which know no connection and wait for nothing.

pub(crate) mod changed_plan;
pub(crate) mod compaction;
pub(crate) mod content;
pub(crate) mod mcp;
pub(crate) mod patch;
pub(crate) mod permission;
pub(crate) mod plan;
pub(crate) mod question;
pub(crate) mod tool_call;
pub(crate) mod translate;
pub(crate) mod usage;
