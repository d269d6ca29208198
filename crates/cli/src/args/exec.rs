//! The arguments of `musher exec`. The flags are those that droid documents for `droid exec`.

use std::path::PathBuf;

use super::Level;

const EXAMPLES: &str = "\
Examples:
  musher exec \"what does this project do?\"         Read-only
  musher exec --auto low \"fix typos in README.md\"  May edit files
  musher exec -f task.md -o json                   Print one JSON object
  musher exec -s SESSION \"and now the tests\"       Resume a session
  musher exec -m rehearsal \"hello\"                 Scripted replies; no account
  musher exec --input-format stream-jsonrpc --output-format stream-jsonrpc

Environment: MUSHER_HOME is the directory of settings and sessions (default: ~/.musher). Models come from `customModels` in \
its settings.json, or from vendor keys such as ANTHROPIC_API_KEY and OPENAI_API_KEY.
Exit codes: 0 done, 1 the task failed, 2 wrong usage or setup, 130 interrupted.";

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

    /// Input format (default: one prompt)
    #[arg(long, value_name = "FORMAT")]
    pub(crate) input_format: Option<InputFormat>,

    /// Read the prompt from a file
    #[arg(short, long, value_name = "FILE", conflicts_with = "prompt")]
    pub(crate) file: Option<PathBuf>,

    /// Autonomy level (default: read-only)
    #[arg(long, value_name = "LEVEL")]
    pub(crate) auto: Option<Level>,

    /// Skip all permission checks; use only in a disposable environment
    #[arg(long, conflicts_with = "auto")]
    pub(crate) skip_permissions_unsafe: bool,

    /// Resume this session
    #[arg(short, long, visible_alias = "session", value_name = "ID", conflicts_with = "fork")]
    pub(crate) session_id: Option<String>,

    /// Fork this session and continue in the copy
    #[arg(long, value_name = "ID")]
    pub(crate) fork: Option<String>,

    /// Model to use (default: from settings)
    #[arg(short, long, value_name = "ID")]
    pub(crate) model: Option<String>,

    /// Reasoning effort of the model (default: the model's own)
    #[arg(short, long, value_name = "LEVEL")]
    pub(crate) reasoning_effort: Option<String>,

    /// Start in spec mode: plan before making changes
    #[arg(long)]
    pub(crate) use_spec: bool,

    /// Model for spec mode (default: the session's model)
    #[arg(long, value_name = "ID")]
    pub(crate) spec_model: Option<String>,

    /// Reasoning effort in spec mode
    #[arg(long, value_name = "LEVEL")]
    pub(crate) spec_reasoning_effort: Option<String>,

    /// Enable only these tools
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub(crate) only_tools: Vec<String>,

    /// Enable these tools as well
    #[arg(long, value_name = "IDS", value_delimiter = ',', alias = "enabled-tools")]
    pub(crate) add_tools: Vec<String>,

    /// Disable these tools
    #[arg(long, value_name = "IDS", value_delimiter = ',', alias = "disabled-tools")]
    pub(crate) remove_tools: Vec<String>,

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
