//! The arguments of `musher exec`.

use std::path::PathBuf;

use super::Level;

const EXAMPLES: &str = "\
Examples:
  musher exec \"what does this project do?\"               reads, and changes nothing
  musher exec --auto low \"fix the typos in README.md\"    may change files here
  musher exec -f task.md -o json                           one JSON object at the end
  musher exec -s SESSION \"and now the tests\"             goes on with a session
  musher exec -m rehearsal \"hello\"                       a script, no intelligence: no account
  musher exec --input-format stream-jsonrpc --output-format stream-jsonrpc
                                                         the Droid protocol, for programs

Environment: MUSHER_HOME is the folder of settings and sessions, ~/.musher if absent. Models come from `customModels` in \
its settings.json, or from the keys of vendors such as ANTHROPIC_API_KEY and OPENAI_API_KEY.
Exit codes: 0 done, 1 the task failed, 2 wrong usage or setup, 130 interrupted.";

/// Do a task without asking, or serve the Droid protocol
///
/// Runs the built-in agent on one prompt and prints its answer; whatever it may not do unasked ends the run. With
/// `--input-format stream-jsonrpc` it serves the Droid protocol on stdin and stdout instead, in place of `droid exec`:
/// then clients choose model and autonomy, and are asked.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Exec {
    /// What to do; read from stdin if absent
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,

    /// What is printed
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: OutputFormat,

    /// What stdin is, if not a prompt
    #[arg(long, value_name = "FORMAT")]
    pub(crate) input_format: Option<InputFormat>,

    /// Read the prompt from a file
    #[arg(short, long, value_name = "FILE", conflicts_with = "prompt")]
    pub(crate) file: Option<PathBuf>,

    /// How much may happen unasked; without it nothing is changed
    #[arg(long, value_name = "LEVEL")]
    pub(crate) auto: Option<Level>,

    /// Ask for nothing at all; only where nothing can be broken
    #[arg(long, conflicts_with = "auto")]
    pub(crate) skip_permissions_unsafe: bool,

    /// Go on with this session
    #[arg(short, long, value_name = "ID", conflicts_with = "fork")]
    pub(crate) session_id: Option<String>,

    /// Go on with a copy of this session
    #[arg(long, value_name = "ID")]
    pub(crate) fork: Option<String>,

    /// The model; the one of the settings if absent
    #[arg(short, long, value_name = "ID")]
    pub(crate) model: Option<String>,

    /// How much the model thinks
    #[arg(short, long, value_name = "LEVEL")]
    pub(crate) reasoning_effort: Option<String>,

    /// Plan first
    #[arg(long)]
    pub(crate) use_spec: bool,

    /// The model for planning
    #[arg(long, value_name = "ID")]
    pub(crate) spec_model: Option<String>,

    /// How much the model thinks while planning
    #[arg(long, value_name = "LEVEL")]
    pub(crate) spec_reasoning_effort: Option<String>,

    /// Use these tools only
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub(crate) only_tools: Vec<String>,

    /// Use these tools as well
    #[arg(long, value_name = "IDS", value_delimiter = ',', alias = "enabled-tools")]
    pub(crate) add_tools: Vec<String>,

    /// Do not use these tools
    #[arg(long, value_name = "IDS", value_delimiter = ',', alias = "disabled-tools")]
    pub(crate) remove_tools: Vec<String>,

    /// Leave out the skills that come with the program
    #[arg(long)]
    pub(crate) disable_builtin_skills: bool,

    /// Where to work; here if absent
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// A settings file that counts more than all others, for this run
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,

    /// Put this text after the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,

    /// Put the text of this file after the system prompt
    #[arg(long, value_name = "FILE")]
    pub(crate) append_system_prompt_file: Option<PathBuf>,

    /// A tag of the session: a name, or a JSON object with `name` and `metadata`; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,

    /// Only list the tools
    #[arg(long)]
    pub(crate) list_tools: bool,

    /// Taken and not used, for scripts written for droid
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
    /// One JSON object for each thing that happens
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
