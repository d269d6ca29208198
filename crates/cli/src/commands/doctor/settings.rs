//! The settings files with their mistakes, and whether the repository is trusted.

use std::path::Path;

use musher_engine::config::{Config, Problem, Severity, Trust};

use super::check::Check;
use super::servers::is_of_servers;

const AREA: &str = "settings";
/// The files a folder of settings can have.
const FILES: [&str; 4] = ["settings.json", "settings.local.json", "hooks.json", "mcp.json"];

pub(super) fn checks(config: &Config, problems: &[Problem]) -> Vec<Check> {
    let mut checks = Vec::new();
    for folder in &config.folders {
        for name in FILES {
            let file = folder.path.join(name);
            if file.is_file() && problems.iter().all(|problem| problem.file != file) {
                let level = folder.level.name();
                checks.push(Check::ok(AREA, name, format!("{} ({level})", file.display())));
            }
        }
    }
    let elsewhere = |problem: &&Problem| !is_of_servers(problem) && problem.file != Path::new("environment");
    for problem in problems.iter().filter(elsewhere) {
        let name = problem.file.file_name().unwrap_or_default().to_string_lossy();
        checks.push(check(problem, AREA, &name));
    }
    if checks.is_empty() {
        checks.push(Check::ok(AREA, "files", "no settings files found; using defaults"));
    }
    checks
}

/// Converts a mistake in a file to a check with a hint.
pub(super) fn check(problem: &Problem, area: &'static str, name: &str) -> Check {
    let text = problem.to_string();
    let check = match problem.severity {
        Severity::Fatal | Severity::Error => Check::error(area, name, text),
        Severity::Warning => Check::warning(area, name, text),
    };
    check.advice(problem.advice())
}

/// Checks whether the repository is trusted.
pub(super) fn trust(config: &Config) -> Check {
    let root = config.root.display();
    let Trust::Untrusted { ignored } = &config.trust else {
        return Check::ok(
            "trust",
            "repository",
            format!("{root} is trusted: its settings, hooks and MCP servers take effect"),
        );
    };
    if config.trust_key.is_none() {
        return Check::ok(
            "trust",
            "repository",
            format!("{root} has no settings, hooks or MCP servers of its own"),
        );
    }
    if ignored.is_empty() {
        return Check::ok(
            "trust",
            "repository",
            format!("{root} is not trusted; nothing in it requires trust"),
        );
    }
    let mut wanted: Vec<&str> = ignored.iter().map(|ignored| ignored.what.as_str()).collect();
    wanted.dedup();
    let text = format!("{root} is not trusted; ignored: {}", wanted.join(", "));
    Check::warning("trust", "repository", text).advice("review the files, then run `musher trust`")
}
