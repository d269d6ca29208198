//! `musher completions` and `musher man`: for shells and manuals.

use std::path::PathBuf;

use clap_complete::Shell;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  musher completions bash > ~/.local/share/bash-completion/completions/musher
  musher completions zsh > \"${fpath[1]}/_musher\"
  musher completions fish > ~/.config/fish/completions/musher.fish";

/// Print the completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  musher man | man -l -                                read the manual
  musher man --output ~/.local/share/man/man1          a page for each command";

/// Print the manual, or write a page for each command
#[derive(Debug, clap::Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct Man {
    /// Write the pages into this folder
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}
