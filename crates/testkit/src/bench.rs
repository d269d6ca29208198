//! What benchmarks of whole programs have in common.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// The program to measure: `--program PATH` of the command line, seen from the workspace, or the one that was built with the benchmark.
///
/// What is handed out is built with `cargo build --profile dist`; the benchmark itself, with its model, is built for speed.
pub fn program(built: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut arguments = std::env::args_os().skip_while(|argument| argument != "--program");
    arguments.nth(1).map_or(built.into(), |given| workspace.join(given))
}

/// Words for an answer in many pieces. All are different, because droid takes a repetition for a fault of the model.
pub fn words(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("w{number} ")).collect()
}

/// The letters of these words that surely come: the last blank of an answer may be lost.
pub fn letters(words: &[String]) -> usize {
    words.concat().trim_end().len()
}

/// The one in the middle. There must be one.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
