//! The arguments of `musher acp`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  musher acp                                           serve the editor that started it
  musher acp --agent /opt/bin/droid --model custom:mine

Environment: FACTORY_API_KEY is the agent's key, if it has no login of its own.
Exit codes: 0 when the editor is gone or a signal came, 2 wrong usage or setup.";

/// Be an agent for editors, over the Agent Client Protocol
///
/// Serves Zed, JetBrains, Neovim, Emacs and every other editor that speaks the Agent Client Protocol: it reads the protocol
/// on stdin, writes it on stdout, and drives one agent process for each session. docs/acp.md tells how to set it up.
#[derive(Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "help texts are read as they are")]
#[command(after_help = EXAMPLES)]
pub(crate) struct Acp {
    /// The agent behind it: `droid`, or the path of a program that speaks its protocol
    #[arg(long, value_name = "AGENT", default_value = "droid")]
    pub(crate) agent: PathBuf,

    /// The model of new sessions; the agent's own choice if absent
    #[arg(long, value_name = "ID")]
    pub(crate) model: Option<String>,

    /// Where the agent keeps its sessions; ~/.factory/sessions if absent
    #[arg(long, value_name = "DIR")]
    pub(crate) sessions_dir: Option<PathBuf>,
}
