//! Asks the person on the terminal for a yes. Where there is none, only a flag is one.

use std::io::{self, BufRead as _};

use anyhow::anyhow;

use crate::exit::Failure;
use crate::printer::Printer;

/// Whether the person says yes. `matter` is what an error says could not be asked, `otherwise` what to do then.
pub(super) fn confirmed(
    question: &str,
    matter: &str,
    otherwise: &str,
    printer: Printer,
) -> Result<bool, Failure> {
    if !rustix::termios::isatty(rustix::stdio::stdin()) {
        return Err(Failure::setup(anyhow!("there is nobody to ask whether to {matter}")).hint(otherwise));
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
