//! The arguments of `musher rehearse`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
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
#[command(after_help = EXAMPLES)]
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
