//! The arguments of `musher console`.

const EXAMPLES: &str = "\
Examples:
  musher console                  Open the console in the browser
  musher console --print-url      Print an address to open yourself, also over an SSH tunnel
  musher console --port 4000      Serve it on this port of 127.0.0.1

The address logs one browser in, once, within 10 minutes. The browser then stays logged in for 30 days.
Starts `musher daemon` if none runs, and leaves it running, with its sessions.
Environment: MUSHER_HOME is the directory of settings and sessions (default: ~/.musher).";

/// Open the web page of the daemon
///
/// Shows all sessions of the daemon in a web page: what they do, what waits for you, their changes and their cost. The page is part of
/// this program and works offline.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Console {
    /// Print the address instead of opening a browser
    #[arg(long)]
    pub(crate) print_url: bool,

    /// Port, if the daemon does not listen on TCP yet (default: 37644, or a free one)
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}
