//! One file per command, named as on the command line.

mod acp;
pub(crate) mod bridge;
mod confirm;
mod demo;
mod doctor;
mod exec;
mod rehearse;
mod run;
mod sessions;
mod shell;
pub(crate) mod stop;
mod trust;

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Runs the command of the arguments.
pub(crate) async fn run(command: Command, printer: Printer) -> Result<Exit, Failure> {
    match command {
        Command::Acp(args) => acp::run(args).await,
        Command::Bridge(args) => bridge::run(args, bridge::own_engine(), printer).await,
        Command::Completions(args) => shell::completions(&args, printer),
        Command::Demo(args) => demo::run(args, printer).await,
        Command::Doctor(args) => doctor::run(args, printer).await,
        Command::Exec(args) => exec::run(*args, printer).await,
        Command::Man(args) => shell::man(&args, printer),
        Command::Rehearse(args) => rehearse::run(args, printer).await,
        Command::Run(args) => run::run(*args, printer).await,
        Command::Sessions(args) => sessions::run(args, printer),
        Command::Trust(args) => trust::run(&args, printer),
    }
}
