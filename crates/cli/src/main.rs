//! The program `musher`: all of it is the library beside.

use std::process::ExitCode;

fn main() -> ExitCode {
    musher_cli::musher()
}
