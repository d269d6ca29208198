//! The arguments of `musher daemon`.

use std::path::PathBuf;

use clap::Subcommand;

use super::budget::amount;

const EXAMPLES: &str = "\
Examples:
  musher daemon                                    Listen on a Unix socket in the home directory
  musher daemon --listen 127.0.0.1:37643           Listen on TCP, for official clients
  musher daemon --droid-path droid                 Run each session in a droid process
  musher daemon status                             What it does
  musher daemon --unit > ~/.config/systemd/user/musher.service
  musher daemon --listen 0.0.0.0:37643 --allow-remote --origin https://console.example

Clients authenticate with the token in ~/.musher/daemon.token, which only you can read.
Environment: MUSHER_DAEMON_TOKEN is the token; MUSHER_HOME is the directory of settings and sessions (default: ~/.musher).
Exit codes: 0 a signal arrived, 2 wrong usage or setup, such as a daemon that runs already.";

/// Serve many sessions to many clients
///
/// Keeps sessions running while clients come and go, over WebSocket. The clients of `droid daemon` can connect to it. Sessions run
/// in this process, or in one process each with `--droid-path`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Daemon {
    #[command(subcommand)]
    pub(crate) action: Option<DaemonAction>,

    /// Address: HOST:PORT or unix:PATH (repeatable; default: unix:~/.musher/daemon.sock)
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Vec<String>,

    /// Token for clients, 16 characters or more (default: from ~/.musher/daemon.token)
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,

    /// Allow addresses that other machines can reach
    #[arg(long)]
    pub(crate) allow_remote: bool,

    /// Certificate chain (PEM) for TLS on all TCP addresses; needs --tls-key
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Private key (PEM) of the certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Allow a web page to connect, such as `https://console.example` (repeatable)
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub(crate) origins: Vec<String>,

    /// Name under which clients reach the daemon, besides addresses and localhost (repeatable)
    #[arg(long = "host-name", value_name = "NAME")]
    pub(crate) host_names: Vec<String>,

    /// Program to run each session in, such as droid (default: the built-in engine)
    #[arg(long, value_name = "PATH")]
    pub(crate) droid_path: Option<PathBuf>,

    /// Default model (default: from settings)
    #[arg(short, long, value_name = "ID")]
    pub(crate) model: Option<String>,

    /// Settings file that takes precedence over all others
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,

    /// Maximum number of open sessions
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_sessions: u32,

    /// Maximum number of turns that run at once; further ones wait
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: u32,

    /// Continue turns that a former daemon was killed in: ask again, run what had not started, call the model
    #[arg(long)]
    pub(crate) resume_turns: bool,

    /// Maximum number of tokens of one session; its turns are refused then
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens_per_session: Option<u64>,

    /// Maximum cost of one session in US dollars
    #[arg(long, value_name = "USD", value_parser = amount)]
    pub(crate) max_usd_per_session: Option<f64>,

    /// Maximum number of tokens of all sessions on one day (UTC)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens_per_day: Option<u64>,

    /// Maximum cost of all sessions on one day (UTC) in US dollars
    #[arg(long, value_name = "USD", value_parser = amount)]
    pub(crate) max_usd_per_day: Option<f64>,

    /// Seconds after which the agent of an idle session ends; the next message revives it
    #[arg(long, value_name = "SECONDS", default_value_t = 1800, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) idle_timeout: u64,

    /// Replace the daemon that runs by the program at its path: turns end first, addresses stay open
    #[arg(long)]
    pub(crate) upgrade: bool,

    /// Print a service file for a daemon with these arguments: a systemd user unit, or a launchd agent on macOS
    #[arg(long)]
    pub(crate) unit: bool,
}

/// What to do with the daemon of this home.
#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub(crate) enum DaemonAction {
    Status(DaemonStatus),
    Stop(DaemonStop),
    Logs(DaemonLogs),
}

/// Show whether a daemon runs, its sessions and what waits
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  musher daemon status\n  musher daemon status --json\n\nExit codes: 0 it runs, 1 it does not, 2 wrong setup."
)]
pub(crate) struct DaemonStatus {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Stop the daemon: interrupt its turns, end its agents, wait
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  musher daemon stop\n\nSessions are on disk; the next daemon resumes them."
)]
pub(crate) struct DaemonStop {}

/// Print the end of the daemon's log
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  musher daemon logs\n  musher daemon logs -n 1000 | grep WARN")]
pub(crate) struct DaemonLogs {
    /// Number of lines
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 100)]
    pub(crate) lines: usize,
}
