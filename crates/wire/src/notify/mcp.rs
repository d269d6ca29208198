//! Connection state and logins of MCP servers.

use crate::object::object;
use crate::{McpAuthOutcome, McpServerInfo, McpSummary};

object! {
    /// The state of an MCP server changed.
    pub struct McpStatusChanged {
        /// State of every configured server.
        servers: Vec<McpServerInfo> = "servers",
    } optional {
        /// Number of servers by status.
        summary: McpSummary = "summary",
    }
}

object! {
    /// An MCP server requires a login.
    pub struct McpAuthRequired {
        /// Name of the MCP server.
        server_name: String = "serverName",
        /// URL that the user must open to log in.
        auth_url: String = "authUrl",
    } optional {
        /// Text for display.
        message: String = "message",
        /// OAuth `state` parameter of the login.
        state: String = "state",
    }
}

object! {
    /// A login at an MCP server ended.
    pub struct McpAuthCompleted {
        /// Name of the MCP server.
        server_name: String = "serverName",
        /// How the login ended.
        outcome: McpAuthOutcome = "outcome",
    } optional {
        /// Text for display.
        message: String = "message",
    }
}
