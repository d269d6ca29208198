//! Helpers that the benchmarks of whole programs share.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Returns the program to measure: `--program PATH` of the command line, relative to the workspace, or the one built with the benchmark.
///
/// Released programs are built with `cargo build --profile dist`; the benchmark itself, with its model, is built for speed.
pub fn program(built: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut arguments = std::env::args_os().skip_while(|argument| argument != "--program");
    arguments.nth(1).map_or(built.into(), |given| workspace.join(given))
}

/// Returns words for an answer in many pieces. All differ, because droid treats a repetition as a fault of the model.
pub fn words(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("w{number} ")).collect()
}

/// Returns the number of letters of these words that certainly arrive: the last blank of an answer may be lost.
pub fn letters(words: &[String]) -> usize {
    words.concat().trim_end().len()
}

/// Returns the median. `times` must not be empty.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
