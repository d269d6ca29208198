//! Management of MCP servers.

use std::collections::BTreeMap;

use crate::object::object;
use crate::{Json, McpRegistryEntry, McpServerInfo, McpServerType, McpSummary, McpToolInfo, SettingsLevel};

object! {
    /// Result of `list_mcp_servers`: the configured servers, without those that the client passed for the session.
    pub struct ListMcpServersResult {
        /// The configured servers.
        servers: Vec<McpServerInfo> = "servers",
    } optional {
        /// Number of servers by status.
        summary: McpSummary = "summary",
    }
}

object! {
    /// Result of `list_mcp_tools`: the tools of all servers, including those that the client passed for the session.
    pub struct ListMcpToolsResult {
        /// The tools of all servers.
        tools: Vec<McpToolInfo> = "tools",
    }
}

object! {
    /// Result of `list_mcp_registry`.
    pub struct ListMcpRegistryResult {
        /// The servers of the registry.
        servers: Vec<McpRegistryEntry> = "servers",
    }
}

object! {
    /// Parameters of `add_mcp_server`.
    ///
    /// `headers` is an object here, but a list in [`McpServerConfig`](crate::McpServerConfig).
    pub struct AddMcpServerParams {
        /// Name of the server. An existing server of that name is replaced.
        name: String = "name",
        /// Transport.
        kind: McpServerType = "type",
    } optional {
        /// Program to start; stdio only.
        command: String = "command",
        /// Arguments of the program; stdio only.
        args: Vec<String> = "args",
        /// Environment variables of the program; stdio only.
        env: BTreeMap<String, String> = "env",
        /// URL of the server; required for `http` and `sse`.
        url: String = "url",
        /// Headers of each HTTP request.
        headers: BTreeMap<String, String> = "headers",
        /// `false` to disable OAuth, or an object with scopes and client data.
        oauth: Json = "oauth",
    }
}

object! {
    /// Parameters of `remove_mcp_server`.
    pub struct RemoveMcpServerParams {
        /// Name of the server; unknown names are an error.
        server_name: String = "serverName",
        /// Settings to change. droid accepts `user` only.
        settings_level: SettingsLevel = "settingsLevel",
    }
}

object! {
    /// Parameters of `toggle_mcp_server`.
    pub struct ToggleMcpServerParams {
        /// Name of the MCP server.
        server_name: String = "serverName",
        /// Whether the server is to be used.
        enabled: bool = "enabled",
        /// Settings to change. droid accepts `user` only.
        settings_level: SettingsLevel = "settingsLevel",
    }
}

object! {
    /// Parameters of `toggle_mcp_tool`.
    pub struct ToggleMcpToolParams {
        /// Name of the MCP server.
        server_name: String = "serverName",
        /// Name of the tool on its server.
        tool_name: String = "toolName",
        /// Whether the tool is to be offered to the model; persists across sessions.
        enabled: bool = "enabled",
    }
}

object! {
    /// Parameters of the calls that authenticate at one MCP server, cancel a login or delete its tokens.
    pub struct McpServerNameParams {
        /// Name of the MCP server.
        server_name: String = "serverName",
    }
}

object! {
    /// Parameters of `submit_mcp_auth_code`.
    pub struct SubmitMcpAuthCodeParams {
        /// Name of the MCP server.
        server_name: String = "serverName",
        /// Authorization code from the OAuth redirect.
        code: String = "code",
        /// The `state` parameter of the OAuth redirect.
        state: String = "state",
    }
}

object! {
    /// Parameters of `submit_mcp_auth_error`.
    pub struct SubmitMcpAuthErrorParams {
        /// Name of the MCP server.
        server_name: String = "serverName",
        /// The `error` parameter of the OAuth redirect.
        error: String = "error",
        /// The `state` parameter of the OAuth redirect.
        state: String = "state",
    } optional {
        /// The `error_description` parameter of the OAuth redirect.
        error_description: String = "errorDescription",
    }
}
