//! The arguments of `musher rehearse`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  musher rehearse                                 Serve the built-in tour
  musher rehearse --script my.yaml --listen 127.0.0.1:8080
  musher rehearse --script my.yaml --check        Validate a script
  musher rehearse --schema > rehearsal.json       Write the JSON schema
  musher rehearse --script my.yaml --record out/  Save all requests

Point an agent at it with the base URL of its vendor:
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ANTHROPIC_API_KEY=rehearsal claude
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=rehearsal some-agent

Exit codes: 0 stopped or valid, 2 wrong usage, script or setup.";

/// Serve a scripted model to any agent, without tokens
///
/// Serves a scripted model over the APIs of OpenAI (chat completions and responses) and Anthropic (messages), to test or
/// demonstrate any coding agent without an account and without tokens. Responses come from a script; no AI model is involved.
/// Runs until Ctrl-C.
#[derive(Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "help texts are read as they are")]
#[command(after_help = EXAMPLES)]
pub(crate) struct Rehearse {
    /// Script to play, YAML or JSON (default: the built-in tour)
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,

    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,

    /// Allow an address that other machines can reach
    #[arg(long)]
    pub(crate) allow_remote: bool,

    /// Write every request to a numbered JSON file in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,

    /// Validate the script and exit
    #[arg(long)]
    pub(crate) check: bool,

    /// Print the JSON schema of scripts and exit
    #[arg(long, conflicts_with_all = ["script", "check", "record", "json"])]
    pub(crate) schema: bool,

    /// Print one JSON object on stdout instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
