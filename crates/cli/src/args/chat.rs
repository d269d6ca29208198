//! The arguments of `musher chat`.

use std::path::PathBuf;

use super::{AgentArgs, DaemonArgs, Level};

const EXAMPLES: &str = "\
Examples:
  musher                                  Chat in this directory
  musher chat \"why does tests/a.rs fail?\"  Begin with a prompt
  musher --continue                       Continue the latest session
  musher chat --agent droid               Chat with another agent
  musher chat --model rehearsal           Scripted replies; no account
  musher chat --daemon                    Leave the session to the daemon at the end

In the chat: Enter sends, / lists commands, @ completes files, ! runs a command, Esc interrupts, ? lists all keys.
Finished text stays in the scrollback of the terminal. The session is on disk: `--continue` and `--session` resume it.
Environment: MUSHER_AGENT sets the default of --agent, MUSHER_HOME is the directory of settings and sessions (default: ~/.musher), \
VISUAL or EDITOR is the editor for long prompts. NO_COLOR disables colors.";

/// Chat with an agent in the terminal
///
/// `musher` without a command does the same, and takes the same options.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Chat {
    /// First prompt
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,

    #[command(flatten)]
    pub(crate) options: ChatOptions,
}

/// The options of a chat, also of the program without a command.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ChatOptions {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,

    /// Continue the most recent session of this directory
    #[arg(short, long = "continue")]
    pub(crate) continue_session: bool,

    /// Resume this session
    #[arg(short, long, visible_alias = "session-id", value_name = "ID", conflicts_with = "continue_session")]
    pub(crate) session: Option<String>,

    /// Autonomy level: what runs without asking: low, medium or high (default: from settings)
    #[arg(long, value_name = "LEVEL", hide_possible_values = true)]
    pub(crate) auto: Option<Level>,

    /// Start in spec mode: plan before making changes
    #[arg(long, visible_alias = "plan")]
    pub(crate) use_spec: bool,

    /// Working directory (default: current)
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    pub(crate) cwd: Option<PathBuf>,

    /// Chat in the daemon, and start it if there is none; the session and its turn stay there
    #[arg(long, conflicts_with = "agent")]
    pub(crate) daemon: bool,

    #[command(flatten)]
    pub(crate) daemon_args: DaemonArgs,
}

impl ChatOptions {
    /// Returns whether any option was given.
    pub(crate) fn is_any(&self) -> bool {
        let Self { agent, continue_session, session, auto, use_spec, cwd, daemon, daemon_args } = self;
        let AgentArgs { agent, model } = agent;
        *continue_session
            || *use_spec
            || *daemon
            || auto.is_some()
            || cwd.is_some()
            || [agent, model, session, &daemon_args.url].into_iter().any(Option::is_some)
    }
}
