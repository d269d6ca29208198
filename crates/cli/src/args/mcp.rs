//! The arguments of `musher mcp`.

use std::path::PathBuf;

use clap::Subcommand;

const EXAMPLES: &str = "\
Examples:
  musher mcp                                     List the MCP servers
  musher mcp list --check                        Connect to them, and show their state
  musher mcp add issues https://example.com/mcp  Add a server at a URL
  musher mcp add files -- npx -y some-server .   Add a server that is a program
  musher mcp login issues                        Log in to a server with OAuth
  musher mcp logout issues                       Delete that login

Servers are in mcp.json in $MUSHER_HOME (default: ~/.musher), logins in mcp-logins.json beside it, readable only for you.
Exit codes: 0 done, 1 a server failed or the login was refused, 2 wrong usage or unknown server.";

/// List, add and remove MCP servers, and log in to them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,

    #[command(flatten)]
    pub(crate) list: List,
}

/// What to do with MCP servers.
#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub(crate) enum Action {
    List(List),
    Add(Add),
    Remove(Remove),
    Login(Login),
    Logout(Logout),
}

/// List the MCP servers of a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: musher mcp list --check --json")]
pub(crate) struct List {
    /// Connect to the servers, and show their state
    #[arg(long)]
    pub(crate) check: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Directory whose servers to list
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) cwd: PathBuf,
}

/// Add a server to mcp.json, and connect to it once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  musher mcp add issues https://example.com/mcp
  musher mcp add wiki https://example.com/mcp --header 'Authorization: Bearer ${WIKI_TOKEN}'
  musher mcp add files --env ROOT=/srv -- npx -y some-server .

${NAME} in URLs, headers, variables and commands stays in the file, and becomes the value of that environment variable when a \
session connects.")]
pub(crate) struct Add {
    /// Name of the server, a prefix of the names of its tools
    pub(crate) name: String,

    /// URL of the server
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    pub(crate) url: Option<String>,

    /// Program that is the server, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    /// Header of every request (repeatable)
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,

    /// Environment variable of the program (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,

    /// The server speaks the older HTTP+SSE transport
    #[arg(long)]
    pub(crate) sse: bool,

    /// OAuth client id, if the server does not register clients
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,

    /// Port on 127.0.0.1 that the browser returns to after a login (default: a free one)
    #[arg(long, value_name = "PORT")]
    pub(crate) callback_port: Option<u16>,
}

/// Remove a server from mcp.json, and delete its login
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: musher mcp remove issues")]
pub(crate) struct Remove {
    /// Name of the server
    pub(crate) name: String,
}

/// Log in to a server with OAuth
///
/// Prints a URL, and waits until a browser has logged in. If the browser runs on another machine, paste the address that it ends at
/// (which it may report as unreachable), or only the code in it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: musher mcp login issues")]
pub(crate) struct Login {
    /// Name of the server
    pub(crate) name: String,

    /// Directory whose servers to use
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) cwd: PathBuf,
}

/// Delete the login at a server, and revoke it if the server offers that
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: musher mcp logout issues")]
pub(crate) struct Logout {
    /// Name of the server
    pub(crate) name: String,

    /// Directory whose servers to use
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) cwd: PathBuf,
}
