//! The editor's MCP servers as the agent takes them.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{HttpHeader, McpServer};
use musher::wire::{HttpHeader as WireHeader, McpServerConfig, McpServerType};

/// Returns the servers that the agent can reach; a kind that this version does not know is left out.
pub(crate) fn servers(offered: Vec<McpServer>) -> Vec<McpServerConfig> {
    offered.into_iter().filter_map(server).collect()
}

/// Says how a user logs in to a server of this name, with the command for that if the agent has one.
pub(crate) fn login_hint(command: Option<&str>, server: &str) -> String {
    match command {
        Some(command) => format!("Run `{command} {server}` in a terminal."),
        None => "Log in with the agent's own program.".to_owned(),
    }
}

fn server(offered: McpServer) -> Option<McpServerConfig> {
    match offered {
        McpServer::Stdio(program) => {
            let command = program.command.to_string_lossy().into_owned();
            let env: BTreeMap<_, _> =
                program.env.into_iter().map(|variable| (variable.name, variable.value)).collect();
            let config = McpServerConfig::stdio(program.name, command, program.args);
            Some(McpServerConfig { env: Some(env), ..config })
        }
        McpServer::Http(http) => Some(McpServerConfig::http(http.name, http.url, headers(http.headers))),
        McpServer::Sse(sse) => {
            let config = McpServerConfig::http(sse.name, sse.url, headers(sse.headers));
            Some(McpServerConfig { kind: Some(McpServerType::Sse), ..config })
        }
        _ => None,
    }
}

fn headers(headers: Vec<HttpHeader>) -> Vec<WireHeader> {
    headers.into_iter().map(|header| WireHeader::new(header.name, header.value)).collect()
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{
        EnvVariable, HttpHeader as Header, McpServerHttp, McpServerSse, McpServerStdio,
    };
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_of_server_is_passed_on() {
        let header = || vec![Header::new("Authorization", "secret")];
        let offered = vec![
            McpServer::Stdio(
                McpServerStdio::new("files", "/bin/files")
                    .args(vec!["--all".to_owned()])
                    .env(vec![EnvVariable::new("KEY", "value")]),
            ),
            McpServer::Http(McpServerHttp::new("web", "http://localhost/mcp").headers(header())),
            McpServer::Sse(McpServerSse::new("old", "http://localhost/sse").headers(header())),
        ];
        let headers = json!([{"name": "Authorization", "value": "secret"}]);
        let expected = json!([
            {"name": "files", "command": "/bin/files", "args": ["--all"], "env": {"KEY": "value"}},
            {"name": "web", "type": "http", "url": "http://localhost/mcp", "headers": headers},
            {"name": "old", "type": "sse", "url": "http://localhost/sse", "headers": headers},
        ]);
        assert_eq!(serde_json::to_value(servers(offered)).unwrap(), expected);
    }
}
