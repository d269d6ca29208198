//! `musher sandbox-launch`: applies a sandbox to this process, and becomes the program in it.
//!
//! Not for people: the engine has editors start it for commands in their terminals. It runs before anything else of this program, because a
//! process with threads cannot create namespaces.

use std::ffi::OsString;
use std::process::ExitCode;

use musher_engine::{LAUNCH_COMMAND, Sandbox};

use crate::exit::Failure;
use crate::printer::Printer;

/// The exit code of shells for a program that cannot be executed.
const CANNOT_EXECUTE: u8 = 126;

/// Becomes the program if that is requested. Returns the exit code if it fails, and `None` if something else is requested.
pub(crate) fn requested(mut words: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    words.nth(1).filter(|word| word == LAUNCH_COMMAND)?;
    let problem = match Sandbox::parse_arguments(words) {
        Some((sandbox, mut program)) if !program.is_empty() => {
            let rest = program.split_off(1);
            let error = program.pop().map(|program| sandbox.launch(program, rest));
            format!(
                "cannot start the command in its sandbox: {}",
                error.map(|it| it.to_string()).unwrap_or_default()
            )
        }
        _ => format!("invalid arguments of `{LAUNCH_COMMAND}`"),
    };
    Printer::new().failure(&Failure::setup(anyhow::anyhow!(problem)));
    Some(CANNOT_EXECUTE.into())
}
