//! The arguments of `musher demo`.

const EXAMPLES: &str = "\
Examples:
  musher demo              Ask before each command and each edit
  musher demo --yes        Approve everything; just watch
  musher demo --keep       Keep the repository and the session

Exit codes: 0 done, 1 failed, 2 wrong usage or setup, 3 you denied a request, 130 interrupted.";

/// Watch an agent fix a failing test, offline
///
/// Creates a small repository with a failing test in a temporary directory and lets the built-in agent find and fix the bug.
/// The agent, its tools and its permission requests are real. Responses are scripted; no AI model and no account is involved.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Demo {
    /// Approve everything (the default without a terminal)
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// Keep the temporary directory
    #[arg(long)]
    pub(crate) keep: bool,
}
