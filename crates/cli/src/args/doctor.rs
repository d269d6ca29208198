//! `musher doctor`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  musher doctor                                        what is there, what is wrong, what to do
  musher doctor --settings                             which file says what, and what counts
  musher doctor --json | jq '.checks[] | select(.state == \"error\")'

Keys are never printed, and no model and no server is asked; programs are only asked for their version.
Exit codes: 0 nothing is broken (there may be warnings), 1 something is broken, 2 wrong usage or setup.";

/// Look at agents, models, servers, settings and the machine, and say what to do
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {
    /// Say where each setting comes from instead
    #[arg(long)]
    pub(crate) settings: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// The directory to look at; the one we are in if absent
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) cwd: PathBuf,
}
