//! Asks for confirmation on the terminal. Without a terminal only `--yes` confirms.

use std::io::{self, BufRead as _};

use anyhow::anyhow;

use crate::exit::Failure;
use crate::printer::Printer;

/// Asks a question, and returns whether the answer is yes. `otherwise` is the hint of the error if there is no terminal.
pub(super) fn confirmed(question: &str, otherwise: &str, printer: Printer) -> Result<bool, Failure> {
    if !rustix::termios::isatty(rustix::stdio::stdin()) {
        let failure = Failure::setup(anyhow!("cannot ask for confirmation: stdin is not a terminal"));
        return Err(failure.hint(otherwise));
    }
    printer.note(format!("{question} [y/N]"));
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(is_yes(&line))
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_a_clear_yes_is_one() {
        for (answer, expected) in
            [("y\n", true), ("Yes\n", true), ("\n", false), ("", false), ("yikes\n", false)]
        {
            assert_eq!(super::is_yes(answer), expected, "{answer:?}");
        }
    }
}
