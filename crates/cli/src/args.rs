//! The command line: types only, one file per command. The doc comments are the help texts.
//!
//! `resolve.rs` and the commands decide what the arguments mean.

mod acp;
mod agent;
mod bridge;
mod demo;
mod doctor;
mod exec;
mod level;
mod log;
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
pub(crate) use log::LogArgs;
pub(crate) use rehearse::Rehearse;
pub(crate) use run::Run;
pub(crate) use shell::{Completions, Man};
pub(crate) use trust::Trust;

const EXAMPLES: &str = "\
Examples:
  musher demo                               Watch an agent fix a test, offline
  musher run \"why does tests/a.rs fail?\"    Ask before changing anything
  musher sessions search \"race condition\"   Find text in all sessions
  musher doctor                             Check the setup and suggest fixes

Data goes to stdout, everything else to stderr. NO_COLOR disables colors. `--log FILE` writes a log.
Exit codes: 0 done, 1 the task failed or nothing was found, 2 wrong usage or setup, 3 permission denied, 130 interrupted.";

/// Drive coding agents, or test them with a scripted model
#[derive(Debug, Parser)]
#[command(name = "musher", version, arg_required_else_help = true, disable_help_subcommand = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) log: LogArgs,

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
