//! `musher mcp`: the MCP servers of the user, and logins at them.
//!
//! Uses the engine's connections without a session. Changes only mcp.json and mcp-logins.json of our home.

mod add;
mod list;
mod login;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use musher_engine::Environment;
use musher_engine::config::{Config, McpServer};

use crate::args::mcp::{Action, Mcp, Remove};
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

pub(crate) async fn run(args: Mcp, printer: Printer) -> Result<Exit, Failure> {
    match args.action.unwrap_or(Action::List(args.list)) {
        Action::List(args) => list::run(&args, printer).await,
        Action::Add(args) => add::run(args, printer).await,
        Action::Remove(args) => remove(&args, printer).await,
        Action::Login(args) => login::log_in(&args, printer).await,
        Action::Logout(args) => login::log_out(&args, printer).await,
    }
}

/// The servers of a directory.
struct Servers {
    environment: Environment,
    cwd: PathBuf,
    config: Config,
}

impl Servers {
    /// Reads the configuration of a directory. Its mistakes are for `musher doctor`.
    fn of(cwd: &Path) -> Result<Self, Failure> {
        let environment = embedded::environment(None, None)?;
        let no_folder = || format!("cannot open `{}`", cwd.display());
        let cwd = fs_err::canonicalize(cwd).with_context(no_folder).map_err(Failure::setup)?;
        let (config, _problems) = environment.config(&cwd);
        Ok(Self { environment, cwd, config })
    }

    fn find(&self, name: &str) -> Result<&McpServer, Failure> {
        let servers = &self.config.mcp_servers;
        servers.iter().find(|server| server.name == name).ok_or_else(|| {
            let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
            let failure = Failure::setup(anyhow!("unknown MCP server `{name}`"));
            if names.is_empty() {
                return failure.hint("no MCP servers configured; `musher mcp add` adds one");
            }
            failure.hint(format!("configured servers: {}", names.join(", ")))
        })
    }

    fn connect(&self, servers: Vec<McpServer>) -> musher_engine::mcp::Mcp {
        self.environment.connect(&self.cwd, &self.config, servers)
    }
}

async fn remove(args: &Remove, printer: Printer) -> Result<Exit, Failure> {
    let servers = Servers::of(Path::new("."))?;
    let server = McpServer { is_disabled: true, ..servers.find(&args.name)?.clone() };
    let mcp = servers.connect(vec![server]);
    mcp.clear_authentication(&args.name).await?;
    mcp.remove(&args.name).await.map_err(Failure::setup)?;
    printer.note(format!("removed {}", args.name));
    Ok(Exit::Done)
}
