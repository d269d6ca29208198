//! The program `musher-bridge`: `musher bridge` for apps that ship their backend.
//!
//! What it does not call is not in it, so it is a fifth of the size of `musher` and needs half of its memory.

use std::process::ExitCode;

fn main() -> ExitCode {
    musher_cli::bridge()
}
