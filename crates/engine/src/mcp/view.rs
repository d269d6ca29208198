//! What clients see of MCP servers and their tools.

use serde_json::Value;

/// An MCP server in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerView {
    /// Its name.
    pub name: String,
    /// `connecting`, `connected`, `failed`, `disabled` ...
    pub status: String,
    /// Where it is configured: `user`, `project` ...
    pub source: String,
    /// `stdio`, `http` or `sse`.
    pub kind: String,
    /// What is wrong.
    pub error: Option<String>,
    /// How many tools it has.
    pub tool_count: Option<usize>,
}

/// A tool of an MCP server in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct McpToolView {
    /// The server.
    pub server: String,
    /// The tool.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Whether it is on.
    pub enabled: bool,
    /// Whether it says that it changes nothing.
    pub read_only: Option<bool>,
    /// The schema of its arguments.
    pub schema: Value,
}
