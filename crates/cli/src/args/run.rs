//! The arguments of `musher run`.

use std::path::PathBuf;

use super::{AgentArgs, DaemonArgs, Level, LimitArgs, ModeArgs, SandboxArgs};

const EXAMPLES: &str = "\
Examples:
  musher run \"why does tests/a.rs fail?\"          Ask before changing anything
  musher run --auto low \"fix typos in README.md\"  Edit files without asking
  musher run --auto high --sandbox workspace-write \"fix the tests\"
  musher run --continue \"and now the tests\"       Continue the latest session
  git diff | musher run \"review this\" --attach -  Attach a file, here stdin
  musher run --schema out.json \"count the TODOs\"  Print JSON of this schema
  musher run --agent droid \"say hello\"            Use another agent
  musher run --model rehearsal \"list the files\"   Scripted replies; no account
  musher run --daemon --detach \"update the docs\"  Leave it to the daemon

The agent's text goes to stdout, everything else to stderr. Press Ctrl-C to stop the turn, twice to quit immediately.
Approval: --auto sets what runs without a permission request; --yes approves the requests that remain, one by one. Blocked \
commands stay blocked. Without a terminal and without --yes every request is denied.
Environment: MUSHER_AGENT sets the default of --agent, MUSHER_DROID is the path of droid, MUSHER_HOME is the directory of \
settings and sessions (default: ~/.musher). NO_COLOR disables colors.
Exit codes: 0 done, 1 the task failed, 2 wrong usage or setup, 3 permission denied,
4 the model refused, 130 interrupted.";

/// Run a task with an agent and watch it work
///
/// Shows what the agent says and does, and asks on the terminal before anything happens that needs approval.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Run {
    /// Prompt (default, or if `-`: read from stdin)
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,

    /// Read the prompt from a file
    #[arg(short, long, visible_alias = "prompt-file", value_name = "FILE", conflicts_with = "prompt")]
    pub(crate) file: Option<PathBuf>,

    /// Autonomy level: what runs without asking (default: from settings)
    #[arg(long, value_name = "LEVEL")]
    pub(crate) auto: Option<Level>,

    /// Approve every permission request
    #[arg(short, long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,

    #[command(flatten)]
    pub(crate) mode: ModeArgs,

    /// Working directory (default: current)
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    pub(crate) cwd: Option<PathBuf>,

    /// Attach an image (repeatable)
    #[arg(long = "image", value_name = "FILE")]
    pub(crate) images: Vec<PathBuf>,

    /// Attach a text or PDF file, or stdin if `-` (repeatable)
    #[arg(long = "attach", value_name = "FILE")]
    pub(crate) attachments: Vec<PathBuf>,

    /// Print an answer that matches the JSON schema in this file
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,

    /// Output format (default: text)
    #[arg(short, long, value_name = "FORMAT", conflicts_with_all = ["json", "stream_json"])]
    pub(crate) output_format: Option<TaskFormat>,

    /// Print one JSON object at the end (short for `-o json`)
    #[arg(long, conflicts_with = "stream_json")]
    pub(crate) json: bool,

    /// Print one JSON object per event (short for `-o stream-json`)
    #[arg(long)]
    pub(crate) stream_json: bool,

    /// Include partial events in `stream-json`: text deltas, states, token counts
    #[arg(long)]
    pub(crate) partial: bool,

    /// Continue the most recent session of this directory
    #[arg(short, long = "continue")]
    pub(crate) continue_session: bool,

    /// Resume this session
    #[arg(short, long, visible_alias = "session-id", value_name = "ID", conflicts_with = "continue_session")]
    pub(crate) session: Option<String>,

    /// Run in the daemon, and start it if there is none; the session stays there
    #[arg(long, conflicts_with = "agent")]
    pub(crate) daemon: bool,

    /// With `--daemon`: print the session id once the prompt is accepted, and leave the turn running
    #[arg(long, requires = "daemon", conflicts_with_all = ["schema", "json", "stream_json", "output_format"])]
    pub(crate) detach: bool,

    #[command(flatten)]
    pub(crate) daemon_args: DaemonArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// What `run` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TaskFormat {
    /// The answer
    Text,
    /// One JSON object at the end
    Json,
    /// One JSON object per event
    StreamJson,
}
