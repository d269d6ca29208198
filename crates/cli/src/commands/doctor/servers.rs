//! The MCP servers of `mcp.json` files. No server is started or contacted.

use std::ffi::OsStr;

use musher_engine::config::{Config, McpServer, Problem, Transport};

use super::check::Check;
use super::settings;
use crate::resolve;

const AREA: &str = "servers";

pub(super) fn checks(config: &Config, problems: &[Problem]) -> Vec<Check> {
    let path = std::env::var_os("PATH");
    let mut checks: Vec<Check> =
        config.mcp_servers.iter().map(|server| check(server, path.as_deref())).collect();
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

/// Whether the problem belongs to this area.
pub(super) fn is_of_servers(problem: &Problem) -> bool {
    problem.file.file_name() == Some(OsStr::new("mcp.json"))
}

fn check(server: &McpServer, path: Option<&OsStr>) -> Check {
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
            if url.starts_with("http://") || url.starts_with("https://") {
                return Check::ok(
                    AREA,
                    &server.name,
                    format!("{}, not contacted ({level})", server.transport.name()),
                );
            }
            Check::error(AREA, &server.name, format!("invalid `url`: not an HTTP URL ({level})"))
                .advice("correct `url` in mcp.json")
        }
    }
}
