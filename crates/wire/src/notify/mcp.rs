//! MCP servers come and go.

use crate::object::object;
use crate::{McpAuthOutcome, McpServerInfo, McpSummary};

object! {
    /// The state of the MCP servers.
    pub struct McpStatusChanged {
        servers: Vec<McpServerInfo> = "servers",
    } optional {
        summary: McpSummary = "summary",
    }
}

object! {
    /// An MCP server wants a login.
    pub struct McpAuthRequired {
        server_name: String = "serverName",
        auth_url: String = "authUrl",
    } optional {
        message: String = "message",
        state: String = "state",
    }
}

object! {
    /// A login ended.
    pub struct McpAuthCompleted {
        server_name: String = "serverName",
        outcome: McpAuthOutcome = "outcome",
    } optional {
        message: String = "message",
    }
}
