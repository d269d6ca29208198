//! Manages MCP servers.

use musher_engine::{McpCommand, ServerTransport, SessionServer};
use musher_wire as wire;
use musher_wire::{McpServerType, Request, RpcError, SettingsLevel};

use super::{of_mcp, succeeds};
use crate::convert::from_wire;
use crate::dispatch::Handled;
use crate::{error_code, params};

pub(super) fn add(request: &Request) -> Handled {
    let given = params::read::<wire::AddMcpServer>(request)?;
    let headers = || given.headers.clone().unwrap_or_default().into_iter().collect();
    let url = |kind: &str| {
        let missing = || error_code::refused(format!("URL is required for {kind} MCP servers"));
        given.url.clone().filter(|url| !url.is_empty()).ok_or_else(missing)
    };
    let transport = match &given.kind {
        McpServerType::Stdio => {
            let missing = || error_code::refused("Command is required for stdio MCP servers");
            let command = given.command.clone().filter(|command| !command.is_empty()).ok_or_else(missing)?;
            ServerTransport::Stdio {
                command,
                args: given.args.clone().unwrap_or_default(),
                env: given.env.clone().unwrap_or_default(),
            }
        }
        McpServerType::Http => ServerTransport::Http { url: url("HTTP")?, headers: headers() },
        McpServerType::Sse => ServerTransport::Sse { url: url("SSE")?, headers: headers() },
        _ => {
            let why = "Invalid value, expected \"stdio\", \"http\" or \"sse\"";
            return Err(params::wrong(request, "type", why));
        }
    };
    let oauth = from_wire::oauth(request, "oauth", given.oauth.as_ref())?;
    succeeds(of_mcp(McpCommand::Add(SessionServer { name: given.name, transport, oauth })))
}

pub(super) fn remove(request: &Request) -> Handled {
    let given = params::read::<wire::RemoveMcpServer>(request)?;
    of_the_user(request, &given.settings_level)?;
    succeeds(of_mcp(McpCommand::Remove { server: given.server_name }))
}

pub(super) fn toggle(request: &Request) -> Handled {
    let given = params::read::<wire::ToggleMcpServer>(request)?;
    of_the_user(request, &given.settings_level)?;
    succeeds(of_mcp(McpCommand::Toggle { server: given.server_name, enabled: given.enabled }))
}

pub(super) fn toggle_tool(request: &Request) -> Handled {
    let given = params::read::<wire::ToggleMcpTool>(request)?;
    let (server, tool, enabled) = (given.server_name, given.tool_name, given.enabled);
    succeeds(of_mcp(McpCommand::ToggleTool { server, tool, enabled }))
}

pub(super) fn authenticate(request: &Request) -> Handled {
    let given = params::read::<wire::AuthenticateMcpServer>(request)?;
    succeeds(of_mcp(McpCommand::Authenticate { server: given.server_name }))
}

pub(super) fn cancel_authentication(request: &Request) -> Handled {
    let given = params::read::<wire::CancelMcpAuth>(request)?;
    succeeds(of_mcp(McpCommand::CancelAuthentication { server: given.server_name }))
}

pub(super) fn clear_authentication(request: &Request) -> Handled {
    let given = params::read::<wire::ClearMcpAuth>(request)?;
    succeeds(of_mcp(McpCommand::ClearAuthentication { server: given.server_name }))
}

pub(super) fn submit_code(request: &Request) -> Handled {
    let given = params::read::<wire::SubmitMcpAuthCode>(request)?;
    let (server, code, state) = (given.server_name, given.code, given.state);
    succeeds(of_mcp(McpCommand::SubmitCode { server, code, state }))
}

pub(super) fn submit_error(request: &Request) -> Handled {
    let given = params::read::<wire::SubmitMcpAuthError>(request)?;
    let (server, error, state) = (given.server_name, given.error, given.state);
    let description = given.error_description;
    succeeds(of_mcp(McpCommand::SubmitError { server, error, description, state }))
}

/// Rejects every settings level but the user's: only the user's own file can be changed.
fn of_the_user(request: &Request, level: &SettingsLevel) -> Result<(), RpcError> {
    match level {
        SettingsLevel::User => Ok(()),
        _ => Err(params::wrong(request, "settingsLevel", "Invalid literal value, expected \"user\"")),
    }
}
