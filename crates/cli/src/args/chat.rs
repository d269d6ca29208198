//! The arguments of `musher chat`.

use std::path::PathBuf;

use super::{AgentArgs, Level};

const EXAMPLES: &str = "\
Examples:
  musher                                  Chat in this directory
  musher chat \"why does tests/a.rs fail?\"  Begin with a prompt
  musher chat --continue                  Continue the latest session
  musher chat --agent droid               Chat with another agent
  musher chat --model rehearsal           Scripted replies; no account

In the chat: Enter sends, / lists commands, @ completes files, ! runs a command, Esc interrupts, ? lists all keys.
Finished text stays in the scrollback of the terminal. The session is on disk: `--continue` and `--session` resume it.
Environment: MUSHER_AGENT sets the default of --agent, MUSHER_HOME is the directory of settings and sessions (default: ~/.musher), \
VISUAL or EDITOR is the editor for long prompts. NO_COLOR disables colors.";

/// Chat with an agent in the terminal
///
/// `musher` without a command does the same.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Chat {
    /// First prompt
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,

    /// Continue the most recent session of this directory
    #[arg(short, long = "continue")]
    pub(crate) continue_session: bool,

    /// Resume this session
    #[arg(short, long, visible_alias = "session-id", value_name = "ID", conflicts_with = "continue_session")]
    pub(crate) session: Option<String>,

    /// Autonomy level: what runs without asking (default: from settings)
    #[arg(long, value_name = "LEVEL")]
    pub(crate) auto: Option<Level>,

    /// Plan first, and change nothing before the plan is approved
    #[arg(long)]
    pub(crate) plan: bool,

    /// Working directory (default: current)
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    pub(crate) cwd: Option<PathBuf>,
}
