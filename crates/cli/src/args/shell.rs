//! The arguments of `musher completions` and `musher man`.

use std::path::PathBuf;

use clap_complete::Shell;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  musher completions bash > ~/.local/share/bash-completion/completions/musher
  musher completions zsh > \"${fpath[1]}/_musher\"
  musher completions fish > ~/.config/fish/completions/musher.fish";

/// Print shell completions
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct Completions {
    /// Shell to complete for
    pub(crate) shell: Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  musher man | man -l -                            Read the manual
  musher man --output ~/.local/share/man/man1      Install a page per command";

/// Print the manual, or write a page per command
#[derive(Debug, clap::Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct Man {
    /// Write one page per command into this directory (default: print the main page)
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}
