//! The arguments of `musher trust`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  musher trust              Show what the repository wants, and ask
  musher trust --yes        Trust it without asking
  musher trust --forget     Stop trusting it

A repository's settings, hooks and MCP servers can run programs and raise the autonomy level. They take effect only if you \
trust the repository, and only while its files stay exactly as they are now. Restrictions always apply.
Exit codes: 0 trusted (or forgotten), 1 not trusted, 2 wrong usage or setup.";

/// Trust a repository's settings, hooks and MCP servers
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Trust {
    /// Repository
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,

    /// Do not ask (required without a terminal)
    #[arg(short, long, conflicts_with = "forget")]
    pub(crate) yes: bool,

    /// Stop trusting the repository
    #[arg(long)]
    pub(crate) forget: bool,
}
