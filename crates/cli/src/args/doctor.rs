//! The arguments of `musher doctor`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  musher doctor                    Check everything
  musher doctor --settings         Show where each setting comes from
  musher doctor --json | jq '.checks[] | select(.state == \"error\")'

Keys are never printed, and neither models nor servers are contacted. Agents are only asked for their version.
Exit codes: 0 no errors (warnings are possible), 1 errors found, 2 wrong usage or setup.";

/// Check the setup and suggest fixes
///
/// Checks agents, models, MCP servers, settings files and the machine, and prints what to do about each problem.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {
    /// Show where each setting comes from instead
    #[arg(long)]
    pub(crate) settings: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Directory to check
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) cwd: PathBuf,
}
