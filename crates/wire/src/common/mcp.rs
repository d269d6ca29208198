//! MCP servers: as a client passes them, and as an agent reports them.

use std::collections::BTreeMap;

use crate::object::object;
use crate::{Count, Json, McpServerStatus, McpServerType};

object! {
    /// An MCP server that the client passes for one session: stdio without `type`, or `http`/`sse`.
    pub struct McpServerConfig {
        /// Name of the server; a prefix of its tools' names.
        name: String = "name",
    } optional {
        /// Transport; absent for stdio.
        kind: McpServerType = "type",
        /// Program to start; stdio only.
        command: String = "command",
        /// Arguments of the program; stdio only.
        args: Vec<String> = "args",
        /// Environment variables of the program; stdio only.
        env: BTreeMap<String, String> = "env",
        /// URL of the server; `http` and `sse` only.
        url: String = "url",
        /// Headers of each HTTP request.
        headers: Vec<HttpHeader> = "headers",
        /// `false` to disable OAuth, or an object with scopes and client data.
        oauth: Json = "oauth",
    }
}

impl McpServerConfig {
    /// Creates the configuration of a server that runs as a child process.
    pub fn stdio(name: impl Into<String>, command: impl Into<String>, args: Vec<String>) -> Self {
        // some agents require both fields, even if they are empty
        let (args, env) = (Some(args), Some(BTreeMap::new()));
        Self { command: Some(command.into()), args, env, ..Self::new(name) }
    }

    /// Creates the configuration of a server at a URL.
    pub fn http(name: impl Into<String>, url: impl Into<String>, headers: Vec<HttpHeader>) -> Self {
        let kind = Some(McpServerType::Http);
        Self { kind, url: Some(url.into()), headers: Some(headers), ..Self::new(name) }
    }
}

object! {
    /// A header of the HTTP requests to an MCP server.
    pub struct HttpHeader {
        /// Name of the header.
        name: String = "name",
        /// Value of the header.
        value: String = "value",
    }
}

object! {
    /// An MCP server and its state, as reported by the agent.
    pub struct McpServerInfo {
        /// Name of the server.
        name: String = "name",
        /// State of the connection.
        status: McpServerStatus = "status",
    } optional {
        /// Settings level that configures the server, such as `user`.
        source: String = "source",
        /// Whether the organization's settings provide the server.
        is_managed: bool = "isManaged",
        /// Why the connection failed.
        error: String = "error",
        /// Number of tools that the server provides.
        tool_count: Count = "toolCount",
        /// Transport.
        server_type: McpServerType = "serverType",
        /// Whether OAuth tokens are stored for the server.
        has_auth_tokens: bool = "hasAuthTokens",
        /// Whether the server requires a login.
        requires_auth: bool = "requiresAuth",
        /// URL of a login that was started and is not complete.
        pending_auth_url: String = "pendingAuthUrl",
        /// Text for display of that login.
        pending_auth_message: String = "pendingAuthMessage",
        /// OAuth `state` parameter of that login.
        pending_auth_state: String = "pendingAuthState",
    }
}

object! {
    /// Number of MCP servers by state.
    pub struct McpSummary {} optional {
        /// Number of configured servers.
        total: Count = "total",
        /// Number of connected servers.
        connected: Count = "connected",
        /// Number of servers being connected.
        connecting: Count = "connecting",
        /// Number of servers that failed to connect.
        failed: Count = "failed",
        /// Number of disabled servers.
        disabled: Count = "disabled",
        /// Why the MCP configuration could not be read.
        config_error: String = "configError",
    }
}

object! {
    /// A tool of an MCP server.
    pub struct McpToolInfo {
        /// Name of the MCP server.
        server_name: String = "serverName",
        /// Name of the tool on its server.
        name: String = "name",
    } optional {
        /// Description for display.
        description: String = "description",
        /// Whether the tool is offered to the model.
        is_enabled: bool = "isEnabled",
        /// Whether the server marks the tool as read-only.
        is_read_only: bool = "isReadOnly",
        /// JSON Schema of the arguments.
        input_schema: Json = "inputSchema",
    }
}

object! {
    /// An MCP server of the vendor's registry, ready to be added.
    pub struct McpRegistryEntry {
        /// Name of the server.
        name: String = "name",
    } optional {
        /// Description for display.
        description: String = "description",
        /// Transport.
        kind: McpServerType = "type",
        /// Program to start; stdio only.
        command: String = "command",
        /// Arguments of the program; stdio only.
        args: Vec<String> = "args",
        /// URL of the server; `http` and `sse` only.
        url: String = "url",
        /// Hint for the user, such as a prerequisite.
        note: String = "note",
        /// URL of the server's logo.
        logo_url: String = "logoUrl",
    }
}
