//! The arguments of `musher run`.

use std::path::PathBuf;

use super::{AgentArgs, Level};

const EXAMPLES: &str = "\
Examples:
  musher run \"why does the test in tests/a.rs fail?\"     asks before anything is changed
  musher run --yes low \"fix the typos in README.md\"      files here may be changed unasked
  musher run --continue \"and now the tests\"              goes on where you were in this folder
  git diff | musher run \"review this\" --file -           with a file, here from a pipe
  musher run --schema answer.json \"count the TODOs\"      prints JSON that fits the schema
  musher run --agent droid \"say hello\"                   the same with another agent
  musher run --model rehearsal \"list the files\"          a script, no intelligence: no account

The answer goes to stdout, everything else to stderr. Ctrl-C stops the turn, a second one leaves.
Environment: MUSHER_AGENT is the agent if --agent is absent, MUSHER_DROID is where droid is, MUSHER_HOME is the folder of \
settings and sessions (~/.musher if absent). NO_COLOR switches colours off.
Exit codes: 0 done, 1 the task failed, 2 wrong usage or setup, 3 refused for lack of consent, 130 interrupted.";

/// Do a task with an agent, and watch it work
///
/// Shows what the agent says and does while it does it, and asks on the terminal before anything happens that needs
/// consent. Where nobody can be asked, the answer is no.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Run {
    /// What to do; read from stdin if absent or `-`
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,

    /// Read the prompt from a file
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub(crate) prompt_file: Option<PathBuf>,

    /// How much may happen unasked; for more than this you are asked
    #[arg(short, long, value_name = "LEVEL")]
    pub(crate) yes: Option<Level>,

    /// Where to work; here if absent
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    pub(crate) cwd: Option<PathBuf>,

    /// A picture to go with the prompt; may be repeated
    #[arg(long = "image", value_name = "FILE")]
    pub(crate) images: Vec<PathBuf>,

    /// A text or PDF to go with the prompt, `-` for stdin; may be repeated
    #[arg(long = "file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The answer must be JSON that fits the JSON schema in this file; it is printed
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,

    /// Print one JSON object at the end
    #[arg(long, conflicts_with = "stream_json")]
    pub(crate) json: bool,

    /// Print one JSON object for each thing that happens
    #[arg(long)]
    pub(crate) stream_json: bool,

    /// With the small pieces: text as it is written, states, token counts
    #[arg(long, requires = "stream_json")]
    pub(crate) partial: bool,

    /// Go on with the newest session of this folder
    #[arg(short, long = "continue")]
    pub(crate) goes_on: bool,

    /// Go on with this session
    #[arg(short, long, value_name = "ID", conflicts_with = "goes_on")]
    pub(crate) session: Option<String>,

    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub(crate) timeout: Option<u64>,

    /// Stop after so many tokens
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget_tokens: Option<u64>,
}
