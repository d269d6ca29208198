//! The arguments of `musher run`.

use std::path::PathBuf;

use super::{AgentArgs, Level};

const EXAMPLES: &str = "\
Examples:
  musher run \"why does tests/a.rs fail?\"          Ask before changing anything
  musher run --auto low \"fix typos in README.md\"  Edit files without asking
  musher run --continue \"and now the tests\"       Continue the latest session
  git diff | musher run \"review this\" --attach -  Attach a file, here stdin
  musher run --schema out.json \"count the TODOs\"  Print JSON of this schema
  musher run --agent droid \"say hello\"            Use another agent
  musher run --model rehearsal \"list the files\"   Scripted replies; no account

The agent's text goes to stdout, everything else to stderr. Press Ctrl-C to stop the turn, twice to quit immediately.
Approval: --auto sets what runs without a permission request; --yes approves the requests that remain, one by one. Blocked \
commands stay blocked. Without a terminal and without --yes every request is denied.
Environment: MUSHER_AGENT sets the default of --agent, MUSHER_DROID is the path of droid, MUSHER_HOME is the directory of \
settings and sessions (default: ~/.musher). NO_COLOR disables colors.
Exit codes: 0 done, 1 the task failed, 2 wrong usage or setup, 3 permission denied, 130 interrupted.";

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

    /// Print one JSON object at the end
    #[arg(long, conflicts_with = "stream_json")]
    pub(crate) json: bool,

    /// Print one JSON object per event
    #[arg(long)]
    pub(crate) stream_json: bool,

    /// Include partial events: text deltas, states, token counts
    #[arg(long, requires = "stream_json")]
    pub(crate) partial: bool,

    /// Continue the most recent session of this directory
    #[arg(short, long = "continue")]
    pub(crate) continue_session: bool,

    /// Resume this session
    #[arg(short, long, visible_alias = "session-id", value_name = "ID", conflicts_with = "continue_session")]
    pub(crate) session: Option<String>,

    /// Stop after this time (default: no limit)
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub(crate) timeout: Option<u64>,

    /// Stop after this number of tokens (default: no limit)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget_tokens: Option<u64>,
}
