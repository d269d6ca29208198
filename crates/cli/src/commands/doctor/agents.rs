//! The installed agents and their versions.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use musher_rpc::{Child, Launch};

use super::check::Check;
use crate::resolve::{self, AGENT_VARIABLE, CLAUDE_VARIABLE, DROID_VARIABLE};
use crate::sanitize::sanitized;
use crate::variables::value;

const AREA: &str = "agents";
/// Time limit for a program to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// An agent program.
struct Program {
    name: &'static str,
    variable: &'static str,
    wanted_by: &'static str,
    source: &'static str,
}

const PROGRAMS: [Program; 2] = [
    Program {
        name: "droid",
        variable: DROID_VARIABLE,
        wanted_by: "`--agent droid` and for droid sessions of `musher bridge`",
        source: "https://docs.factory.ai",
    },
    Program {
        name: "claude",
        variable: CLAUDE_VARIABLE,
        wanted_by: "Claude Code sessions of `musher bridge`",
        source: "https://code.claude.com",
    },
];

pub(super) async fn checks() -> Vec<Check> {
    let mut checks =
        vec![Check::ok(AREA, "engine", format!("built in, version {}", env!("CARGO_PKG_VERSION")))];
    let path = value("PATH");
    for program in &PROGRAMS {
        let named = value(program.variable);
        checks.push(look_at(program, named, path.as_deref()).await);
    }
    if let Some(agent) = value(AGENT_VARIABLE) {
        checks.push(chosen(&agent, value(DROID_VARIABLE), path.as_deref()));
    }
    checks
}

async fn look_at(program: &Program, named: Option<OsString>, path: Option<&OsStr>) -> Check {
    let wanted = named.clone().unwrap_or_else(|| program.name.into());
    let Some(found) = resolve::program(&wanted, path) else {
        let check = if let Some(named) = named {
            let text = format!("cannot find the program `{}` of {}", named.display(), program.variable);
            Check::error(AREA, program.name, text).advice(format!("correct or unset {}", program.variable))
        } else {
            // not a warning: the built-in agent needs none of them
            let text = format!("not in PATH; needed only for {}", program.wanted_by);
            let advice = format!("see {}, or set {} to its path", program.source, program.variable);
            Check::ok(AREA, program.name, text).advice(advice)
        };
        return check;
    };
    let place = found.display();
    match version(&found).await {
        Ok(version) => Check::ok(AREA, program.name, format!("{version} at {place}")),
        Err(problem) => Check::error(AREA, program.name, format!("`{place} --version` {problem}"))
            .advice(format!("reinstall it, or set {} to another program", program.variable)),
    }
}

/// Returns the default agent of commands without `--agent`.
fn chosen(agent: &OsStr, droid: Option<OsString>, path: Option<&OsStr>) -> Check {
    let name = format!("{AGENT_VARIABLE}={}", sanitized(&agent.to_string_lossy(), 80));
    let wanted = if agent == "droid" { droid.unwrap_or_else(|| agent.to_owned()) } else { agent.to_owned() };
    if agent == "engine" || resolve::program(&wanted, path).is_some() {
        return Check::ok(AREA, name, "default agent");
    }
    let advice = format!("unset {AGENT_VARIABLE}, or set it to `engine`, `droid` or the path of an agent");
    Check::error(AREA, name, "program not found").advice(advice)
}

/// Returns the first line that `--version` prints.
async fn version(program: &Path) -> Result<String, String> {
    let launch =
        Launch::new(program).arg("--version").grace(Duration::ZERO).grace_after_term(Duration::from_secs(1));
    let (child, mut lines) =
        Child::spawn_lines(launch).await.map_err(|error| format!("cannot be run: {error}"))?;
    let said = tokio::time::timeout(VERSION_TIMEOUT, lines.incoming.recv()).await;
    let exit = child.close().await;
    match said {
        Ok(Ok(line)) => Ok(sanitized(String::from_utf8_lossy(line.bytes()).trim(), 80)),
        Ok(Err(_closed)) => {
            let status = exit.status.map_or_else(|| "nothing".to_owned(), |status| status.to_string());
            Err(format!("printed no version and ended with {status}"))
        }
        Err(_elapsed) => Err(format!("timed out after {} s", VERSION_TIMEOUT.as_secs())),
    }
}
