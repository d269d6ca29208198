//! `musher acp` as typed.

use std::path::PathBuf;

use super::AgentArgs;

const EXAMPLES: &str = "\
Examples:
  musher acp                                           serve the editor that started it
  musher acp --agent droid --model custom:mine         with droid
  musher acp --model rehearsal                         with a script: no account, no intelligence

Environment: MUSHER_AGENT is the agent if --agent is absent. MUSHER_HOME is the folder of the built-in agent's settings and \
sessions, ~/.musher if absent; its models come from `customModels` in settings.json there, or from the keys of vendors such as \
ANTHROPIC_API_KEY and OPENAI_API_KEY. FACTORY_API_KEY is droid's key, if it has no login of its own.
Exit codes: 0 when the editor is gone or a signal came, 2 wrong usage or setup.";

/// Be an agent for editors, over the Agent Client Protocol
///
/// Serves Zed, JetBrains, Neovim, Emacs and every other editor that speaks the Agent Client Protocol: it reads the protocol
/// on stdin, writes it on stdout, and has an agent for each session: the built-in one, droid, or any program that speaks
/// droid's protocol. docs/acp.md tells how to set it up.
#[derive(Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "help texts are read as they are")]
#[command(after_help = EXAMPLES)]
pub(crate) struct Acp {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,

    /// Where the agent keeps its sessions, if it is a program; ~/.factory/sessions if absent
    #[arg(long, value_name = "DIR")]
    pub(crate) sessions_dir: Option<PathBuf>,
}
