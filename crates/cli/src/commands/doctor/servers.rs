//! The MCP servers of `mcp.json` files. No server is started or contacted.

use std::ffi::OsStr;

use musher_engine::config::{Config, McpServer, Problem, Transport};
use musher_engine::{Environment, LoginState};

use super::check::Check;
use super::settings;
use crate::resolve;

const AREA: &str = "servers";

pub(super) fn checks(environment: &Environment, config: &Config, problems: &[Problem]) -> Vec<Check> {
    let path = std::env::var_os("PATH");
    let mut checks: Vec<Check> = config
        .mcp_servers
        .iter()
        .map(|server| check(server, path.as_deref(), environment.login_of(server)))
        .collect();
    let mistakes = problems.iter().filter(|problem| is_of_servers(problem));
    checks.extend(mistakes.map(|problem| {
        let name = problem
            .field
            .as_deref()
            .and_then(|field| field.strip_prefix("mcpServers."))
            .unwrap_or("mcp.json");
        settings::check(problem, AREA, name)
    }));
    if checks.is_empty() {
        checks.push(Check::ok(AREA, "mcp.json", "no MCP servers configured"));
    }
    checks
}

/// Returns whether the problem belongs to this area.
pub(super) fn is_of_servers(problem: &Problem) -> bool {
    problem.file.file_name() == Some(OsStr::new("mcp.json"))
}

fn check(server: &McpServer, path: Option<&OsStr>, login: LoginState) -> Check {
    let level = server.level.map_or("session", |level| level.name());
    if server.is_disabled {
        return Check::ok(AREA, &server.name, format!("disabled ({level})"));
    }
    match &server.transport {
        Transport::Stdio { command, .. } => match resolve::program(OsStr::new(command), path) {
            Some(found) => Check::ok(AREA, &server.name, format!("{} ({level})", found.display())),
            None => {
                Check::error(AREA, &server.name, format!("cannot find the program `{command}` ({level})"))
                    .advice("install it, or correct `command` in mcp.json")
            }
        },
        Transport::Http { url, .. } | Transport::Sse { url, .. } => {
            let name = server.transport.name();
            if !(url.starts_with("http://") || url.starts_with("https://")) {
                return Check::error(AREA, &server.name, format!("invalid `url`: not an HTTP URL ({level})"))
                    .advice("correct `url` in mcp.json");
            }
            match login {
                LoginState::Needed => {
                    Check::error(AREA, &server.name, format!("{name}, needs login ({level})"))
                        .advice(format!("run `musher mcp login {}`", server.name))
                }
                LoginState::LoggedIn => {
                    Check::ok(AREA, &server.name, format!("{name}, logged in, not contacted ({level})"))
                }
                LoginState::None => Check::ok(AREA, &server.name, format!("{name}, not contacted ({level})")),
            }
        }
    }
}
