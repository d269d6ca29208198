//! The programs: read arguments, run one command, and turn its outcome into text and an exit code.
//!
//! The only place where an error becomes text. The commands are in `commands/`, which mirrors the command line. There are two programs,
//! and each is one function here, so that the linker can omit unused code from the small one.

mod agent_error;
mod args;
mod chat;
mod commands;
mod daemon_client;
#[cfg(test)]
mod docs;
mod drive;
mod embedded;
mod exit;
mod help;
mod hide;
mod launch;
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
mod task;
mod terminal;
mod variables;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Backend, LogArgs};
use exit::{Exit, Failure};
use printer::Printer;
use style::Style;

/// Runs the program `musher`.
#[must_use]
pub fn musher() -> ExitCode {
    if let Some(exit) = launch::requested(std::env::args_os()) {
        return exit;
    }
    run(
        names::arguments(std::env::args_os()),
        |args: &Args| &args.log,
        // many sessions, whose work on the disk must not delay each other
        |args| matches!(args.command, Some(args::Command::Daemon(_))),
        async |args, printer| commands::run_or_chat(args.command, args.chat, printer).await,
    )
}

/// Runs the program `musher-bridge`: the command `musher bridge` alone. The engine is not in it; it starts `musher` for that.
#[must_use]
pub fn bridge() -> ExitCode {
    run(
        std::env::args_os(),
        |args: &Backend| &args.log,
        |_| false,
        async |args, printer| {
            let engine = commands::bridge::engine_beside(args.engine);
            commands::bridge::run(args.bridge, engine, printer).await
        },
    )
}

/// Parses the arguments and runs the command.
fn run<A: Parser>(
    words: impl IntoIterator<Item = OsString>,
    log: fn(&A) -> &LogArgs,
    has_threads: fn(&A) -> bool,
    command: impl AsyncFnOnce(A, Printer) -> Result<Exit, Failure>,
) -> ExitCode {
    let printer = Printer::new();
    let width = Style::of_stdout().width;
    let mut arguments = width.map_or_else(A::command, |width| help::fitted(A::command(), width));
    let parsed = arguments.try_get_matches_from_mut(words);
    let args = match parsed
        .and_then(|matches| A::from_arg_matches(&matches).map_err(|error| error.format(&mut arguments)))
    {
        Ok(args) => args,
        Err(error) => return printer.usage(&error).into(),
    };
    let outcome = logging::start(log(&args), printer).and_then(|logging| {
        let mut runtime = if has_threads(&args) {
            tokio::runtime::Builder::new_multi_thread()
        } else {
            tokio::runtime::Builder::new_current_thread()
        };
        let runtime = runtime.enable_all().build()?;
        let outcome = runtime.block_on(command(args, printer));
        // ends the tasks, and with them their spans
        drop(runtime);
        logging.finish();
        outcome
    });
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) if failure.is_broken_pipe() => Exit::Done.into(),
        Err(failure) => {
            printer.failure(&failure);
            failure.exit.into()
        }
    }
}
