//! The command line: types only, one file per command. The doc comments are the help texts.
//!
//! `resolve.rs` and the commands decide what the arguments mean.

mod acp;
mod agent;
mod attach;
mod bridge;
mod budget;
mod chat;
mod console;
mod daemon;
mod demo;
mod doctor;
mod exec;
mod level;
mod log;
pub(crate) mod mcp;
mod models;
mod rehearse;
mod run;
mod sandbox;
pub(crate) mod sessions;
mod shell;
mod task;
mod trust;
mod usage;

use clap::{Parser, Subcommand};

pub(crate) use acp::Acp;
pub(crate) use agent::AgentArgs;
pub(crate) use attach::{Attach, DaemonArgs, Inbox, InboxAction};
pub(crate) use bridge::{Backend, Bridge};
pub(crate) use budget::BudgetArgs;
pub(crate) use chat::{Chat, ChatOptions};
pub(crate) use console::Console;
pub(crate) use daemon::{Daemon, DaemonAction, DaemonLogs, DaemonStatus};
pub(crate) use demo::Demo;
pub(crate) use doctor::Doctor;
pub(crate) use exec::{Exec, InputFormat, OutputFormat};
pub(crate) use level::Level;
pub(crate) use log::LogArgs;
pub(crate) use models::Models;
pub(crate) use rehearse::Rehearse;
pub(crate) use run::{Run, TaskFormat};
pub(crate) use sandbox::SandboxArgs;
pub(crate) use shell::{Completions, Man};
pub(crate) use task::{LimitArgs, ModeArgs};
pub(crate) use trust::Trust;
pub(crate) use usage::{GroupBy, Usage};

const EXAMPLES: &str = "\
Examples:
  musher                                    Chat in this directory
  musher --continue                         Continue its latest session
  musher demo                               Watch an agent fix a test, offline
  musher run \"why does tests/a.rs fail?\"    Ask before changing anything
  musher sessions search \"race condition\"   Find text in all sessions
  musher doctor                             Check the setup and suggest fixes

Data goes to stdout, everything else to stderr. NO_COLOR disables colors. `--log FILE` writes a log.
Exit codes: 0 done, 1 the task failed or nothing was found, 2 wrong usage or setup, 3 permission denied, 4 the model refused, 130 interrupted.";

/// Drive coding agents, or test them with a scripted model
#[derive(Debug, Parser)]
#[command(name = "musher", version, disable_help_subcommand = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten, next_help_heading = "Options without a command, as of `musher chat`")]
    pub(crate) chat: ChatOptions,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Chat(Box<Chat>),
    Run(Box<Run>),
    Demo(Demo),
    Acp(Acp),
    Attach(Attach),
    Bridge(Bridge),
    Completions(Completions),
    Console(Console),
    Daemon(Box<Daemon>),
    Doctor(Doctor),
    Exec(Box<Exec>),
    Inbox(Inbox),
    Man(Man),
    Models(Models),
    Mcp(mcp::Mcp),
    Rehearse(Rehearse),
    Sessions(sessions::Sessions),
    Trust(Trust),
    Usage(Usage),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn command_line_is_well_formed() {
        super::Args::command().debug_assert();
        super::Backend::command().debug_assert();
    }
}
