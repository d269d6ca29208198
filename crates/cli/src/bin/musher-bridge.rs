//! The program `musher-bridge`: `musher bridge` for apps that ship their backend.
//!
//! The linker omits unused code, so it is a fifth of the size of `musher` and needs half of its memory.

use std::process::ExitCode;

fn main() -> ExitCode {
    musher_cli::bridge()
}
