//! `musher sessions delete`: asks the person on the terminal; where there is none, only what was said counts.

use std::io::{self, BufRead as _};

use anyhow::anyhow;

use super::change::{all_of, named};
use super::place::{Place, explained};
use crate::args::sessions::Delete;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

pub(super) fn run(place: &Place, args: &Delete, printer: Printer) -> Result<Exit, Failure> {
    let all = all_of(place, &args.ids)?;
    if !args.yes {
        if !rustix::termios::isatty(rustix::stdio::stdin()) {
            let failure = Failure::setup(anyhow!("there is nobody to ask whether to delete"));
            return Err(failure.hint("`--yes` deletes without asking"));
        }
        for found in &all {
            printer.note(&format!("  {}", named(found)));
        }
        let these = if all.len() == 1 { "this session" } else { "these sessions" };
        printer.note(&format!("Delete {these} for good? [y/N]"));
        if !is_yes(&answer()?) {
            printer.note("nothing was deleted");
            return Ok(Exit::Failed);
        }
    }
    for found in all {
        place.store_to_change(&found)?.delete(&found.summary.id).map_err(explained)?;
        printer.note(&format!("deleted {}", named(&found)));
    }
    Ok(Exit::Done)
}

fn answer() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
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
