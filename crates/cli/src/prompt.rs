//! The prompt as text: words of the command line, a file, or stdin.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use anyhow::{Context as _, anyhow};

use crate::exit::Failure;

/// Maximum size of the text on stdin, in bytes.
const MAX_STDIN: u64 = 16 * 1024 * 1024;

/// Reads the prompt from the arguments, a file, or stdin. Reads a terminal only if the argument is `-`.
pub(crate) fn read(words: &[String], file: Option<&Path>) -> Result<String, Failure> {
    let words = words.join(" ");
    let text = match file {
        Some(file) => fs_err::read_to_string(file).map_err(Failure::setup)?,
        None if !words.is_empty() && words != "-" => words,
        None if words.is_empty() && std::io::stdin().is_terminal() => String::new(),
        None => stdin()?,
    };
    if text.trim().is_empty() {
        let failure = Failure::setup(anyhow!("no prompt given"));
        return Err(failure.hint("pass it as an argument, with `--file`, or on stdin"));
    }
    Ok(text)
}

/// Reads all of stdin, which must be text.
pub(crate) fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_STDIN + 1).read_to_string(&mut text);
    read.context("cannot read stdin as text").map_err(Failure::setup)?;
    if text.len() as u64 > MAX_STDIN {
        return Err(Failure::setup(anyhow!("stdin is larger than {} MiB", MAX_STDIN / 1024 / 1024)));
    }
    Ok(text)
}
