//! The arguments of `musher acp`.

use std::path::PathBuf;

use super::{AgentArgs, SandboxArgs};

const EXAMPLES: &str = "\
Examples:
  musher acp                                   Serve the editor that started it
  musher acp --agent droid --model custom:mine  Use droid
  musher acp --sandbox read-only               Commands change nothing unless you approve them
  musher acp --model rehearsal                 Use scripted replies; no account

Environment: MUSHER_AGENT sets the default of --agent. MUSHER_HOME is the directory of the engine's settings and sessions \
(default: ~/.musher). The engine's models come from `customModels` in settings.json, or from vendor keys such as \
ANTHROPIC_API_KEY and OPENAI_API_KEY. droid uses FACTORY_API_KEY if it is not logged in.
Exit codes: 0 the editor disconnected or a signal arrived, 2 wrong usage or setup.";

/// Run as an ACP agent for editors
///
/// Serves Zed, JetBrains, Neovim, Emacs and other editors that speak the Agent Client Protocol (ACP) over stdin and stdout.
/// Each session runs the built-in engine, droid, or any program that speaks droid's protocol. docs/acp.md explains how to
/// configure your editor.
#[derive(Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "help texts are read as they are")]
#[command(after_help = EXAMPLES)]
pub(crate) struct Acp {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,

    /// Directory of the agent's sessions, if the agent is a program (default: ~/.factory/sessions)
    #[arg(long, value_name = "DIR")]
    pub(crate) sessions_dir: Option<PathBuf>,
}
