//! MCP servers and logins at them.

use crate::object::open_enum;

open_enum! {
    /// The state of one MCP server.
    pub enum McpServerStatus {
        /// The connection is being made.
        Connecting = "connecting",
        /// Connected; the tools of the server can be used.
        Connected = "connected",
        /// Not connected, or the connection was lost.
        Disconnected = "disconnected",
        /// The server did not start, or the connection was refused.
        Failed = "failed",
        /// Switched off in the settings.
        Disabled = "disabled",
    }
}

open_enum! {
    /// The transport of an MCP server.
    pub enum McpServerType {
        /// A child process, over its standard input and output.
        Stdio = "stdio",
        /// Streamable HTTP.
        Http = "http",
        /// HTTP with server-sent events, the older transport.
        Sse = "sse",
    }
}

open_enum! {
    /// How an MCP login ended.
    pub enum McpAuthOutcome {
        /// The server accepted the login.
        Success = "success",
        /// The client cancelled the login.
        Cancelled = "cancelled",
        /// The login failed or timed out.
        Failed = "failed",
    }
}

open_enum! {
    /// The state of MCP as a whole.
    pub enum McpStatus {
        /// No server has been started.
        NotInitialized = "not-initialized",
        /// Servers are connecting.
        Initializing = "initializing",
        /// Each server is connected or has failed.
        Ready = "ready",
        /// No server is configured.
        NoServers = "no-servers",
        /// The configuration cannot be used.
        Failed = "failed",
    }
}

open_enum! {
    /// How an OAuth client authenticates at the token endpoint.
    pub enum TokenEndpointAuthMethod {
        /// Not at all: a public client.
        None = "none",
        /// With its id and secret in the `Authorization` header.
        ClientSecretBasic = "client_secret_basic",
        /// With its id and secret in the body.
        ClientSecretPost = "client_secret_post",
    }
}
