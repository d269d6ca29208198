//! The prompt as text: words of the command line, a file, or stdin.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use anyhow::{Context as _, anyhow};

use crate::exit::Failure;

/// The longest text that is read from stdin.
const LONGEST: u64 = 16 * 1024 * 1024;

/// The words, a file, or stdin; what a person could type for ever is not waited for.
pub(crate) fn read(words: &[String], file: Option<&Path>) -> Result<String, Failure> {
    let words = words.join(" ");
    let text = match file {
        Some(file) => fs_err::read_to_string(file).map_err(Failure::setup)?,
        None if !words.is_empty() && words != "-" => words,
        None if words.is_empty() && std::io::stdin().is_terminal() => String::new(),
        None => stdin()?,
    };
    if text.trim().is_empty() {
        let failure = Failure::setup(anyhow!("there is no prompt"));
        return Err(failure.hint("write it behind the command, name a file with it, or pipe it in"));
    }
    Ok(text)
}

/// All of stdin, which must be text.
pub(crate) fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(LONGEST + 1).read_to_string(&mut text);
    read.context("stdin is no text").map_err(Failure::setup)?;
    if text.len() as u64 > LONGEST {
        return Err(Failure::setup(anyhow!("stdin has more than {} MiB", LONGEST / 1024 / 1024)));
    }
    Ok(text)
}
