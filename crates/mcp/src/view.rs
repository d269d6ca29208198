//! MCP servers and their tools, as clients list them.

use serde_json::Value;

use super::PendingLogin;

/// An MCP server in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerView {
    /// Its name.
    pub name: String,
    /// `connecting`, `connected`, `failed`, `disabled` ...
    pub status: String,
    /// The level of its configuration: `user`, `project` ...
    pub source: String,
    /// `stdio`, `http` or `sse`.
    pub kind: String,
    /// The error of a failed server.
    pub error: Option<String>,
    /// The number of its tools.
    pub tool_count: Option<usize>,
    /// Whether the user has to log in.
    pub requires_login: bool,
    /// Whether there are tokens for it; `None` if it never needs any.
    pub has_tokens: Option<bool>,
    /// The login that waits for the user.
    pub pending_login: Option<PendingLogin>,
}

/// A tool of an MCP server in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct McpToolView {
    /// The server.
    pub server: String,
    /// The tool.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Whether the server declares it read-only.
    pub read_only: Option<bool>,
    /// The schema of its arguments.
    pub schema: Value,
}
