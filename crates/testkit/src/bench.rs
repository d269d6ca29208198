//! What benchmarks of whole programs have in common.

use std::path::{Path, PathBuf};

/// The program to measure: `--program PATH` of the command line, seen from the workspace, or the one that was built with the benchmark.
///
/// What is handed out is built with `cargo build --release`; the benchmark itself, with its model, is built for speed.
pub fn program(built: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut arguments = std::env::args_os().skip_while(|argument| argument != "--program");
    arguments.nth(1).map_or(built.into(), |given| workspace.join(given))
}
