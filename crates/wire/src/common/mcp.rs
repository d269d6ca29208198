//! MCP servers: as a client offers them, and as an agent reports them.

use std::collections::BTreeMap;

use crate::object::object;
use crate::{Count, Json, McpServerStatus, McpServerType};

object! {
    /// An MCP server that the client offers for one session: stdio without `type`, or http/sse.
    pub struct McpServerConfig {
        name: String = "name",
    } optional {
        /// Absent for stdio.
        kind: McpServerType = "type",
        command: String = "command",
        args: Vec<String> = "args",
        env: BTreeMap<String, String> = "env",
        url: String = "url",
        headers: Vec<HttpHeader> = "headers",
        /// `false`, or an object with scopes and client data.
        oauth: Json = "oauth",
    }
}

impl McpServerConfig {
    /// A server that is a program.
    pub fn stdio(name: impl Into<String>, command: impl Into<String>, args: Vec<String>) -> Self {
        // some agents want both fields, even if empty
        let (args, env) = (Some(args), Some(BTreeMap::new()));
        Self { command: Some(command.into()), args, env, ..Self::new(name) }
    }

    /// A server behind a URL.
    pub fn http(name: impl Into<String>, url: impl Into<String>, headers: Vec<HttpHeader>) -> Self {
        let kind = Some(McpServerType::Http);
        Self { kind, url: Some(url.into()), headers: Some(headers), ..Self::new(name) }
    }
}

object! {
    /// One header of requests to an MCP server.
    pub struct HttpHeader {
        name: String = "name",
        value: String = "value",
    }
}

object! {
    /// An MCP server as the agent sees it.
    pub struct McpServerInfo {
        name: String = "name",
        status: McpServerStatus = "status",
    } optional {
        source: String = "source",
        is_managed: bool = "isManaged",
        error: String = "error",
        tool_count: Count = "toolCount",
        server_type: McpServerType = "serverType",
        has_auth_tokens: bool = "hasAuthTokens",
        requires_auth: bool = "requiresAuth",
        pending_auth_url: String = "pendingAuthUrl",
    }
}

object! {
    /// How many MCP servers are in which state.
    pub struct McpSummary {} optional {
        total: Count = "total",
        connected: Count = "connected",
        connecting: Count = "connecting",
        failed: Count = "failed",
        disabled: Count = "disabled",
        config_error: String = "configError",
    }
}

object! {
    /// A tool of an MCP server.
    pub struct McpToolInfo {
        server_name: String = "serverName",
        name: String = "name",
    } optional {
        description: String = "description",
        is_enabled: bool = "isEnabled",
        is_read_only: bool = "isReadOnly",
        input_schema: Json = "inputSchema",
    }
}

object! {
    /// A known MCP server that could be added.
    pub struct McpRegistryEntry {
        name: String = "name",
    } optional {
        description: String = "description",
        kind: McpServerType = "type",
        command: String = "command",
        args: Vec<String> = "args",
        url: String = "url",
        note: String = "note",
        logo_url: String = "logoUrl",
    }
}
