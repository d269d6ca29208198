//! What an agent has, as the Claude Code CLI would list it: MCP servers and slash commands.

use musher::Session;
use musher::wire::{CommandInfo, McpServerConfig, McpServerInfo, McpServerStatus, McpToolInfo};
use serde_json::{Value, json};

/// Returns the MCP servers and how they stand. Those given to the session are not in the agent's list; their tools are.
pub(super) async fn servers(session: &Session, given: &[McpServerConfig]) -> musher::Result<Value> {
    let configured = session.client().list_mcp_servers().await?.servers;
    let tools = session.client().list_mcp_tools().await?.tools;
    Ok(list(&configured, &tools, given))
}

fn list(configured: &[McpServerInfo], tools: &[McpToolInfo], given: &[McpServerConfig]) -> Value {
    let tools_of = |server: &str| -> Vec<Value> {
        let tools = tools.iter().filter(|tool| tool.server_name == server);
        tools.map(|tool| json!({"name": tool.name, "description": tool.description})).collect()
    };
    let given =
        given.iter().filter(|it| configured.iter().all(|known| known.name != it.name)).map(|server| {
            let tools = tools_of(&server.name);
            // one without tools could not be reached, as far as can be known
            let status = if tools.is_empty() { "failed" } else { "connected" };
            json!({"name": server.name, "status": status, "scope": "session", "tools": tools})
        });
    let configured = configured.iter().map(|server| {
        let status = match server.status {
            _ if server.requires_auth == Some(true) => "needs-auth",
            McpServerStatus::Connected => "connected",
            McpServerStatus::Connecting => "pending",
            McpServerStatus::Disabled => "disabled",
            _ => "failed",
        };
        let mut told = json!({"name": server.name, "status": status, "tools": tools_of(&server.name)});
        if let Some(error) = &server.error {
            told["error"] = json!(error);
        }
        told
    });
    configured.chain(given).collect()
}

/// Returns the short form of [`servers`].
pub(super) fn names_and_states(servers: &Value) -> Value {
    let servers = servers.as_array().into_iter().flatten();
    servers.map(|server| json!({"name": server["name"], "status": server["status"]})).collect()
}

/// Returns the slash commands.
pub(super) fn commands(commands: &[CommandInfo]) -> Value {
    let commands = commands.iter().map(|command| {
        json!({
            "name": command.name,
            "description": command.description.as_deref().unwrap_or_default(),
            "argumentHint": command.argument_hint.as_deref().unwrap_or_default(),
        })
    });
    commands.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_the_session_are_recognized_by_their_tools() {
        let configured: Vec<McpServerInfo> = serde_json::from_value(json!([
            {"name": "a", "status": "connecting"}, {"name": "b", "status": "disconnected", "error": "gone"},
            {"name": "c", "status": "connected", "requiresAuth": true}
        ]))
        .unwrap();
        let tools = [McpToolInfo::new("ours", "peek")];
        let given = ["ours", "dead"].map(|name| McpServerConfig::stdio(name, "x", Vec::new()));
        let listed = list(&configured, &tools, &given);
        let states: Vec<_> =
            listed.as_array().unwrap().iter().map(|it| it["status"].as_str().unwrap()).collect();
        assert_eq!(states, ["pending", "failed", "needs-auth", "connected", "failed"]);
        assert_eq!((&listed[1]["error"], &listed[3]["tools"][0]["name"]), (&json!("gone"), &json!("peek")));
        assert_eq!(names_and_states(&listed)[0], json!({"name": "a", "status": "pending"}));
    }
}
