//! One file per command, named as on the command line.

mod acp;
mod attach;
pub(crate) mod bridge;
mod chat;
mod confirm;
mod console;
pub(crate) mod daemon;
mod demo;
mod doctor;
mod exec;
mod inbox;
mod mcp;
mod models;
mod rehearse;
mod run;
mod sessions;
mod shell;
pub(crate) mod stop;
mod trust;
mod usage;

use clap::CommandFactory as _;

use crate::args::{ChatOptions, Command};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Runs the command of the arguments; without one, a chat, or help if there is no terminal to chat in.
///
/// # Errors
///
/// Also fails if there are options of a chat before another command: they would have no effect.
pub(crate) async fn run_or_chat(
    command: Option<Command>,
    options: ChatOptions,
    printer: Printer,
) -> Result<Exit, Failure> {
    match command {
        Some(_) if options.is_any() => {
            let failure = Failure::setup(anyhow::anyhow!("cannot use options of the chat before a command"));
            Err(failure.hint("write the options after the command"))
        }
        Some(command) => run(command, printer).await,
        None if options.is_any() || crate::chat::is_terminal() => {
            chat::run(crate::args::Chat { prompt: Vec::new(), options }, printer).await
        }
        None => {
            printer.help(&mut crate::args::Args::command());
            Ok(Exit::Setup)
        }
    }
}

/// Runs the command of the arguments.
pub(crate) async fn run(command: Command, printer: Printer) -> Result<Exit, Failure> {
    match command {
        Command::Acp(args) => acp::run(args).await,
        Command::Attach(args) => attach::run(args, printer).await,
        Command::Bridge(args) => bridge::run(args, bridge::own_engine(), printer).await,
        Command::Chat(args) => chat::run(*args, printer).await,
        Command::Completions(args) => shell::completions(&args, printer),
        Command::Console(args) => console::run(args, printer).await,
        Command::Daemon(args) => daemon::run(*args, printer).await,
        Command::Demo(args) => demo::run(args, printer).await,
        Command::Doctor(args) => doctor::run(args, printer).await,
        Command::Exec(args) => exec::run(*args, printer).await,
        Command::Inbox(args) => inbox::run(args, printer).await,
        Command::Man(args) => shell::man(&args, printer),
        Command::Models(args) => models::run(args, printer).await,
        Command::Mcp(args) => mcp::run(args, printer).await,
        Command::Rehearse(args) => rehearse::run(args, printer).await,
        Command::Run(args) => run::run(*args, printer).await,
        Command::Sessions(args) => sessions::run(args, printer).await,
        Command::Trust(args) => trust::run(&args, printer),
        Command::Usage(args) => usage::run(&args, printer),
    }
}
