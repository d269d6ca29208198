//! The command line as typed. The doc comments are the help texts.
//!
//! Only types: what the arguments mean is decided by the commands.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Drive coding agents, or rehearse without one.
#[derive(Debug, Parser)]
#[command(name = "musher", version, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Acp(Acp),
    Bridge(Bridge),
    Exec(Box<Exec>),
    Rehearse(Rehearse),
}

const ACP_EXAMPLES: &str = "\
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
#[command(after_help = ACP_EXAMPLES)]
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

const BRIDGE_EXAMPLES: &str = "\
Examples:
  musher bridge                                        serve the program that started it
  musher bridge --claude /opt/claude --callback-timeout 60
  musher bridge --schema > bridge.schema.json          for programs that check messages

Environment: MUSHER_CLAUDE and MUSHER_DROID are the agents if --claude and --droid are absent.
Exit codes: 0 when the front end is gone or a signal came, 2 wrong usage or setup.";

/// Run agent sessions for an app in any language, over JSON lines
///
/// A backend for apps: reads one JSON object per line on stdin, writes one per line on stdout, and runs any number of
/// sessions with Claude Code or Droid at once. The app is asked before tools run. docs/bridge.md explains the protocol.
#[derive(Debug, clap::Args)]
#[command(after_help = BRIDGE_EXAMPLES)]
pub(crate) struct Bridge {
    /// The Claude Code CLI; `claude` in PATH if absent
    #[arg(long, value_name = "PATH")]
    pub(crate) claude: Option<PathBuf>,

    /// Droid; `droid` in PATH if absent
    #[arg(long, value_name = "PATH")]
    pub(crate) droid: Option<PathBuf>,

    /// How long the app may take to answer a callback
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) callback_timeout: u64,

    /// How long an agent may take to be ready, and to answer a call
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) agent_timeout: u64,

    /// Only print the JSON schema of the protocol
    #[arg(long, conflicts_with_all = ["types", "claude", "droid"])]
    pub(crate) schema: bool,

    /// Only print the TypeScript types of the protocol
    #[arg(long, conflicts_with_all = ["claude", "droid"])]
    pub(crate) types: bool,
}

const EXEC_EXAMPLES: &str = "\
Examples:
  musher exec \"what does this project do?\"               reads, and changes nothing
  musher exec --auto low \"fix the typos in README.md\"    may change files here
  musher exec -f task.md -o json                           one JSON object at the end
  musher exec -s SESSION \"and now the tests\"             goes on with a session
  musher exec -m rehearsal \"hello\"                       the scripted model: no account, no intelligence
  musher exec --input-format stream-jsonrpc --output-format stream-jsonrpc
                                                         the Droid protocol, for programs

Environment: MUSHER_HOME is the folder of settings and sessions, ~/.musher if absent. Models come from `customModels` in
its settings.json, or from the keys of vendors such as ANTHROPIC_API_KEY and OPENAI_API_KEY.
Exit codes: 0 done, 1 the task failed, 2 wrong usage or setup, 130 interrupted.";

/// Do a task without asking, or serve the Droid protocol
///
/// Runs the built-in agent on one prompt and prints its answer; whatever it may not do unasked ends the run. With
/// `--input-format stream-jsonrpc` it serves the Droid protocol on stdin and stdout instead, in place of `droid exec`:
/// then clients choose model and autonomy, and are asked.
#[derive(Debug, clap::Args)]
#[command(after_help = EXEC_EXAMPLES)]
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

/// How much may happen unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Level {
    /// Changes of files in the working directory
    Low,
    /// Builds, packages and local version control as well
    Medium,
    /// Nearly everything
    High,
}

const REHEARSE_EXAMPLES: &str = "\
Examples:
  musher rehearse                                      play the built-in tour on a free port
  musher rehearse --script my.yaml --listen 127.0.0.1:8080
  musher rehearse --script my.yaml --check             is the script right?
  musher rehearse --schema > rehearsal.schema.json     for editors that check YAML
  musher rehearse --script my.yaml --record requests/  keep what the agent asked

An agent is pointed at it with the base URL of its vendor:
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ANTHROPIC_API_KEY=rehearsal claude
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=rehearsal some-agent

Exit codes: 0 stopped or checked, 2 wrong usage, script or setup.";

/// Serve a scripted model to any agent, without tokens
///
/// Serves a scripted model over the APIs of OpenAI (chat completions and responses) and Anthropic (messages), so that
/// any coding agent can be tested or shown without an account and without tokens. There is no intelligence behind it:
/// a script says which reply comes when. Runs until Ctrl-C.
#[derive(Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "help texts are read as they are")]
#[command(after_help = REHEARSE_EXAMPLES)]
pub(crate) struct Rehearse {
    /// The script, YAML or JSON; the built-in tour if absent
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,

    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,

    /// Allow an address that other machines can reach
    #[arg(long)]
    pub(crate) allow_remote: bool,

    /// Write every request to a numbered JSON file in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,

    /// Only check the script
    #[arg(long)]
    pub(crate) check: bool,

    /// Only print the JSON schema of scripts
    #[arg(long, conflicts_with_all = ["script", "check", "record", "json"])]
    pub(crate) schema: bool,

    /// Print one JSON object on stdout instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Args::command().debug_assert();
    }
}
