//! The arguments of `musher exec`. The flags are those that droid documents for `droid exec`.

use std::path::PathBuf;

use super::{Level, LimitArgs, ModeArgs, SandboxArgs};

const EXAMPLES: &str = "\
Examples:
  musher exec \"what does this project do?\"         Read-only
  musher exec --auto low \"fix typos in README.md\"  May edit files
  musher exec --auto high --sandbox workspace-write \"fix the tests\"
  musher exec -f task.md -o json                   Print one JSON object
  musher exec -s SESSION \"and now the tests\"       Resume a session
  musher exec -m rehearsal \"hello\"                 Scripted replies; no account
  musher exec --input-format stream-jsonrpc --output-format stream-jsonrpc

Environment: MUSHER_HOME is the directory of settings and sessions (default: ~/.musher). Models come from `customModels` in \
its settings.json, or from vendor keys such as ANTHROPIC_API_KEY and OPENAI_API_KEY.
Exit codes: 0 done, 1 the task failed, 2 wrong usage or setup, 4 the model refused, 130 interrupted.";

/// Run one task non-interactively, or serve the Droid protocol
///
/// Runs the built-in agent on one prompt and prints its answer. Anything that would need approval ends the run. With
/// `--input-format stream-jsonrpc --output-format stream-jsonrpc` it is a drop-in replacement for `droid exec`: it serves the
/// Droid protocol over stdin and stdout, and clients choose the model and the autonomy level and answer permission requests.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Exec {
    /// Prompt (default: read from stdin)
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: OutputFormat,

    /// Print one JSON object at the end (short for `-o json`)
    #[arg(long, conflicts_with_all = ["output_format", "stream_json"])]
    pub(crate) json: bool,

    /// Print one JSON object per event (short for `-o stream-json`)
    #[arg(long, conflicts_with = "output_format")]
    pub(crate) stream_json: bool,

    /// Input format (default: one prompt)
    #[arg(long, value_name = "FORMAT")]
    pub(crate) input_format: Option<InputFormat>,

    /// Read the prompt from a file
    #[arg(short, long, visible_alias = "prompt-file", value_name = "FILE", conflicts_with = "prompt")]
    pub(crate) file: Option<PathBuf>,

    /// Autonomy level (default: read-only)
    #[arg(long, value_name = "LEVEL")]
    pub(crate) auto: Option<Level>,

    /// Skip all permission checks; use only in a disposable environment
    #[arg(long, conflicts_with = "auto")]
    pub(crate) skip_permissions_unsafe: bool,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,

    /// Continue the most recent session of this directory
    #[arg(short, long = "continue")]
    pub(crate) continue_session: bool,

    /// Resume this session
    #[arg(
        short,
        long,
        visible_alias = "session",
        value_name = "ID",
        conflicts_with_all = ["fork", "continue_session"]
    )]
    pub(crate) session_id: Option<String>,

    /// Fork this session and continue in the copy
    #[arg(long, value_name = "ID", conflicts_with = "continue_session")]
    pub(crate) fork: Option<String>,

    /// Model to use (default: from settings)
    #[arg(short, long, value_name = "ID")]
    pub(crate) model: Option<String>,

    #[command(flatten)]
    pub(crate) mode: ModeArgs,

    /// Disable the built-in skills
    #[arg(long)]
    pub(crate) disable_builtin_skills: bool,

    /// Working directory (default: current)
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Settings file that takes precedence over all others in this run
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,

    /// Append text to the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,

    /// Append the contents of a file to the system prompt
    #[arg(long, value_name = "FILE")]
    pub(crate) append_system_prompt_file: Option<PathBuf>,

    /// Tag the session: a name, or a JSON object with `name` and `metadata` (repeatable)
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// List the tools and exit
    #[arg(long)]
    pub(crate) list_tools: bool,

    /// Accepted and ignored, for scripts written for droid
    #[arg(long, hide = true)]
    pub(crate) log_group_id: Option<String>,
}

/// What `exec` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer
    Text,
    /// One JSON object at the end
    Json,
    /// One JSON object per event
    #[value(alias = "debug")]
    StreamJson,
    /// The Droid protocol
    StreamJsonrpc,
}

/// What `exec` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InputFormat {
    /// A prompt
    #[value(hide = true)]
    Text,
    /// One prompt per line, as `{"role":"user","content":"..."}`
    StreamJson,
    /// The Droid protocol
    StreamJsonrpc,
}
