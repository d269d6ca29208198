//! The command line as typed. The doc comments are the help texts.
//!
//! Only types, one file per command: what the arguments mean is decided by `resolve.rs` and the commands.

mod acp;
mod agent;
mod bridge;
mod exec;
mod level;
mod rehearse;

use clap::{Parser, Subcommand};

pub(crate) use acp::Acp;
pub(crate) use agent::AgentArgs;
pub(crate) use bridge::Bridge;
pub(crate) use exec::{Exec, InputFormat, OutputFormat};
pub(crate) use level::Level;
pub(crate) use rehearse::Rehearse;

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

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Args::command().debug_assert();
    }
}
