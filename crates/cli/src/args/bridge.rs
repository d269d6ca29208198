//! The arguments of `musher bridge`, and of `musher-bridge`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  musher bridge                                        serve the program that started it
  musher bridge --claude /opt/claude --callback-timeout 60
  musher bridge --schema > bridge.schema.json          for programs that check messages

Environment: MUSHER_CLAUDE and MUSHER_DROID are the agents if --claude and --droid are absent.
Exit codes: 0 when the front end is gone or a signal came, 2 wrong usage or setup.";

/// Run agent sessions for an app in any language, over JSON lines
///
/// A backend for apps: reads one JSON object per line on stdin, writes one per line on stdout, and runs any number of
/// sessions with Claude Code, Droid or the engine at once. The app is asked before tools run. docs/bridge.md explains the protocol.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bridge {
    /// The Claude Code CLI; `claude` in PATH if absent
    #[arg(long, value_name = "PATH")]
    pub(crate) claude: Option<PathBuf>,

    /// Droid; `droid` in PATH if absent
    #[arg(long, value_name = "PATH")]
    pub(crate) droid: Option<PathBuf>,

    /// How long the app may take to answer a callback
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) callback_timeout: u64,

    /// How long an agent may take to be ready, and to answer a call
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) agent_timeout: u64,

    /// Only print the JSON schema of the protocol
    #[arg(long, conflicts_with_all = ["types", "claude", "droid"])]
    pub(crate) schema: bool,

    /// Only print the TypeScript types of the protocol
    #[arg(long, conflicts_with_all = ["claude", "droid"])]
    pub(crate) types: bool,
}

const EXAMPLES_ALONE: &str = "\
Examples:
  musher-bridge                                        serve the program that started it
  musher-bridge --claude /opt/claude --callback-timeout 60
  musher-bridge --engine /opt/musher                   where the engine is

Environment: MUSHER_CLAUDE, MUSHER_DROID and MUSHER_ENGINE are the agents if their options are absent.
Exit codes: 0 when the front end is gone or a signal came, 2 wrong usage or setup.";

/// Run agent sessions for an app in any language, over JSON lines
///
/// The command `musher bridge` as a small program of its own, for apps that ship their backend. The engine is not in it:
/// for sessions with the engine it starts `musher`.
#[derive(Debug, clap::Parser)]
#[command(name = "musher-bridge", version, after_help = EXAMPLES_ALONE)]
pub(crate) struct Backend {
    #[command(flatten)]
    pub(crate) bridge: Bridge,

    /// The program with the engine; `musher` beside this one or in PATH if absent
    #[arg(long, value_name = "PATH")]
    pub(crate) engine: Option<PathBuf>,
}
