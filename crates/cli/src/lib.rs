//! The programs: read arguments, run one command, and turn its outcome into text and an exit code.
//!
//! The only place where an error becomes text. The commands are in `commands/`, which mirrors the command line. There are two programs,
//! and each is one function here, so that the linker can omit unused code from the small one.

mod args;
mod commands;
#[cfg(test)]
mod docs;
mod drive;
mod embedded;
mod exit;
mod logging;
mod models;
mod names;
mod printer;
mod prompt;
mod report;
mod resolve;
mod sanitize;
mod style;
mod styled;
mod terminal;
mod variables;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Backend};
use exit::{Exit, Failure};
use printer::Printer;

/// The program `musher`.
#[must_use]
pub fn musher() -> ExitCode {
    run(names::arguments(std::env::args_os()), async |args: Args, printer| {
        logging::start(&args.log, printer)?;
        commands::run(args.command, printer).await
    })
}

/// The program `musher-bridge`: the command `musher bridge` alone. The engine is not in it; it starts `musher` for that.
#[must_use]
pub fn bridge() -> ExitCode {
    run(std::env::args_os(), async |args: Backend, printer| {
        logging::start(&args.log, printer)?;
        let engine = commands::bridge::engine_beside(args.engine);
        commands::bridge::run(args.bridge, engine, printer).await
    })
}

/// Parses the arguments and runs the command.
fn run<A: Parser>(
    words: impl IntoIterator<Item = OsString>,
    command: impl AsyncFnOnce(A, Printer) -> Result<Exit, Failure>,
) -> ExitCode {
    let printer = Printer::new();
    let args = match A::try_parse_from(words) {
        Ok(args) => args,
        Err(error) => return printer.usage(&error).into(),
    };
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::from)
        .and_then(|runtime| runtime.block_on(command(args, printer)));
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) if failure.is_broken_pipe() => Exit::Done.into(),
        Err(failure) => {
            printer.failure(&failure);
            failure.exit.into()
        }
    }
}
