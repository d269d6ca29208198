//! The arguments of `musher demo`.

const EXAMPLES: &str = "\
Examples:
  musher demo                    you are asked before a command runs and before a file is changed
  musher demo --yes              you only watch
  musher demo --keep             everything is left for you to look at

Exit codes: 0 shown, 1 it went wrong, 2 wrong usage or setup, 3 you said no, 130 interrupted.";

/// Watch an agent fix a failing test: offline, without an account
///
/// Makes a small repository with a failing test in a temporary folder and lets the built-in agent find and fix the
/// fault. The agent, its tools and its questions are real. The model is not: it follows a script.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Demo {
    /// Answer every question with yes; so it is without a terminal, too
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// Leave the folder where it is
    #[arg(long)]
    pub(crate) keep: bool,
}
