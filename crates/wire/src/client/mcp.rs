//! Managing MCP servers.

use std::collections::BTreeMap;

use crate::object::object;
use crate::{Json, McpRegistryEntry, McpServerInfo, McpServerType, McpSummary, McpToolInfo, SettingsLevel};

object! {
    /// Answer of `list_mcp_servers`: the configured ones, not those a client offered for the session.
    pub struct ListMcpServersResult {
        servers: Vec<McpServerInfo> = "servers",
    } optional {
        summary: McpSummary = "summary",
    }
}

object! {
    /// Answer of `list_mcp_tools`: of all servers, also those a client offered.
    pub struct ListMcpToolsResult {
        tools: Vec<McpToolInfo> = "tools",
    }
}

object! {
    /// Answer of `list_mcp_registry`.
    pub struct ListMcpRegistryResult {
        servers: Vec<McpRegistryEntry> = "servers",
    }
}

object! {
    /// Arguments of `add_mcp_server`. Note that `headers` is an object here, and a list in
    /// [`McpServerConfig`](crate::McpServerConfig).
    pub struct AddMcpServerParams {
        name: String = "name",
        kind: McpServerType = "type",
    } optional {
        command: String = "command",
        args: Vec<String> = "args",
        env: BTreeMap<String, String> = "env",
        url: String = "url",
        headers: BTreeMap<String, String> = "headers",
        oauth: Json = "oauth",
    }
}

object! {
    /// Arguments of `remove_mcp_server`.
    pub struct RemoveMcpServerParams {
        server_name: String = "serverName",
        /// The real agent takes `user` only.
        settings_level: SettingsLevel = "settingsLevel",
    }
}

object! {
    /// Arguments of `toggle_mcp_server`.
    pub struct ToggleMcpServerParams {
        server_name: String = "serverName",
        enabled: bool = "enabled",
        /// The real agent takes `user` only.
        settings_level: SettingsLevel = "settingsLevel",
    }
}

object! {
    /// Arguments of `toggle_mcp_tool`.
    pub struct ToggleMcpToolParams {
        server_name: String = "serverName",
        tool_name: String = "toolName",
        enabled: bool = "enabled",
    }
}

object! {
    /// Arguments of the calls that name one MCP server: authenticate, cancel and clear authentication.
    pub struct McpServerNameParams {
        server_name: String = "serverName",
    }
}

object! {
    /// Arguments of `submit_mcp_auth_code`.
    pub struct SubmitMcpAuthCodeParams {
        server_name: String = "serverName",
        code: String = "code",
        state: String = "state",
    }
}

object! {
    /// Arguments of `submit_mcp_auth_error`.
    pub struct SubmitMcpAuthErrorParams {
        server_name: String = "serverName",
        error: String = "error",
        state: String = "state",
    } optional {
        error_description: String = "errorDescription",
    }
}
