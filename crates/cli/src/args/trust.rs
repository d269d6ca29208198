//! `musher trust`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  musher trust                                         what the repository's files want
  musher trust --yes                                   believe them
  musher trust --forget                                and no longer

Settings, hooks and MCP servers of a repository can run programs and widen what happens unasked. They count only if the \
repository is trusted, with exactly the files it has now; what narrows counts always.
Exit codes: 0 trusted (or forgotten), 1 not trusted, 2 wrong usage or setup.";

/// Let the settings, hooks and servers of a repository count
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Trust {
    /// The repository; the one we are in if absent
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,

    /// Do not ask; needed where nobody can be asked
    #[arg(short, long, conflicts_with = "forget")]
    pub(crate) yes: bool,

    /// Trust it no longer
    #[arg(long)]
    pub(crate) forget: bool,
}
