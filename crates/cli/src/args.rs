//! The command line as typed. The doc comments are the help texts.
//!
//! Only types, one file per command: what the arguments mean is decided by `resolve.rs` and the commands.

mod acp;
mod agent;
mod bridge;
mod demo;
mod doctor;
mod exec;
mod level;
mod rehearse;
mod run;
pub(crate) mod sessions;
mod shell;
mod trust;

use clap::{Parser, Subcommand};

pub(crate) use acp::Acp;
pub(crate) use agent::AgentArgs;
pub(crate) use bridge::{Backend, Bridge};
pub(crate) use demo::Demo;
pub(crate) use doctor::Doctor;
pub(crate) use exec::{Exec, InputFormat, OutputFormat};
pub(crate) use level::Level;
pub(crate) use rehearse::Rehearse;
pub(crate) use run::Run;
pub(crate) use shell::{Completions, Man};
pub(crate) use trust::Trust;

const EXAMPLES: &str = "\
Examples:
  musher demo                                          an agent fixes a failing test, offline
  musher run \"why does the test in tests/a.rs fail?\"   asks before anything is changed
  musher sessions search \"race condition\"              in which session was that?
  musher doctor                                        what is there, what is wrong, what to do

Each command explains itself with --help. Data goes to stdout, everything else to stderr; NO_COLOR switches colours off.
Exit codes: 0 done, 1 the task failed or nothing was found, 2 wrong usage or setup, 3 refused for lack of \
consent, 130 interrupted.";

/// Drive coding agents, or rehearse without one.
#[derive(Debug, Parser)]
#[command(name = "musher", version, arg_required_else_help = true, disable_help_subcommand = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<Run>),
    Demo(Demo),
    Acp(Acp),
    Bridge(Bridge),
    Completions(Completions),
    Doctor(Doctor),
    Exec(Box<Exec>),
    Man(Man),
    Rehearse(Rehearse),
    Sessions(sessions::Sessions),
    Trust(Trust),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Args::command().debug_assert();
        super::Backend::command().debug_assert();
    }
}
