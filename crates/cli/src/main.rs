//! The musher command: reads arguments, runs one command, and turns its outcome into text and an exit code.
//!
//! The only place where an error becomes text. What commands do is in `commands/`, which mirrors the command line.

mod args;
mod commands;
#[cfg(test)]
mod docs;
mod drive;
mod embedded;
mod exit;
mod look;
mod models;
mod names;
mod printer;
mod prompt;
mod report;
mod resolve;
mod sanitize;
mod terminal;
mod variables;
mod view;

use std::process::ExitCode;

use clap::Parser as _;

use args::Args;
use exit::{Exit, Failure};
use printer::Printer;

fn main() -> ExitCode {
    let printer = Printer::new();
    let outcome = match Args::try_parse_from(names::arguments(std::env::args_os())) {
        Ok(args) => run(args, printer),
        Err(error) => return printer.usage(&error).into(),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) if failure.is_broken_pipe() => Exit::Done.into(),
        Err(failure) => {
            printer.failure(&failure);
            failure.exit.into()
        }
    }
}

fn run(args: Args, printer: Printer) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(commands::run(args.command, printer))
}
