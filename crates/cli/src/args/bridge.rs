//! The arguments of `musher bridge`, and of `musher-bridge`.

use std::path::PathBuf;

use super::{LogArgs, SandboxArgs};

const EXAMPLES: &str = "\
Examples:
  musher bridge                              Serve the app that started it
  musher bridge --claude /opt/claude --callback-timeout 60
  musher bridge --schema > bridge.json       Write the JSON schema of messages

Environment: MUSHER_CLAUDE and MUSHER_DROID set the defaults of --claude and --droid.
Exit codes: 0 the front end disconnected or a signal arrived, 2 wrong usage or setup.";

/// Run agent sessions for an app, over JSON lines
///
/// A backend for apps in any language: reads one JSON object per line on stdin, writes one per line on stdout, and runs any
/// number of sessions of Claude Code, droid or the engine at once. Permission requests go to the app. docs/bridge.md describes
/// the protocol.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bridge {
    /// Path of the Claude Code CLI (default: `claude` in PATH)
    #[arg(long, value_name = "PATH")]
    pub(crate) claude: Option<PathBuf>,

    /// Path of droid (default: `droid` in PATH)
    #[arg(long, value_name = "PATH")]
    pub(crate) droid: Option<PathBuf>,

    /// Time limit for the app to answer a callback
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) callback_timeout: u64,

    /// Time limit for an agent to start, and to answer a call
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) agent_timeout: u64,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,

    /// Print the JSON schema of the protocol and exit
    #[arg(long, conflicts_with_all = ["types", "claude", "droid"])]
    pub(crate) schema: bool,

    /// Print the TypeScript types of the protocol and exit
    #[arg(long, conflicts_with_all = ["claude", "droid"])]
    pub(crate) types: bool,
}

const BACKEND_EXAMPLES: &str = "\
Examples:
  musher-bridge                              Serve the app that started it
  musher-bridge --claude /opt/claude --callback-timeout 60
  musher-bridge --engine /opt/musher         Use this program as the engine

Environment: MUSHER_CLAUDE, MUSHER_DROID and MUSHER_ENGINE set the defaults of --claude, --droid and --engine.
Exit codes: 0 the front end disconnected or a signal arrived, 2 wrong usage or setup.";

/// Run agent sessions for an app, over JSON lines
///
/// The same as `musher bridge`, as a smaller program for apps that ship their backend. The engine is not included: for
/// engine sessions it starts `musher`.
#[derive(Debug, clap::Parser)]
#[command(name = "musher-bridge", version, after_help = BACKEND_EXAMPLES)]
pub(crate) struct Backend {
    #[command(flatten)]
    pub(crate) log: LogArgs,

    #[command(flatten)]
    pub(crate) bridge: Bridge,

    /// Path of `musher`, which has the engine (default: beside this program, then in PATH)
    #[arg(long, value_name = "PATH")]
    pub(crate) engine: Option<PathBuf>,
}
