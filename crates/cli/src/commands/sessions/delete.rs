//! `musher sessions delete`: asks the person on the terminal; where there is none, only what was said counts.

use super::change::{all_of, named};
use super::place::{Place, explained};
use crate::args::sessions::Delete;
use crate::commands::confirm::confirmed;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

pub(super) fn run(place: &Place, args: &Delete, printer: Printer) -> Result<Exit, Failure> {
    let all = all_of(place, &args.ids)?;
    if !args.yes {
        let names: Vec<String> = all.iter().map(|found| format!("  {}\n", named(found))).collect();
        let these = if all.len() == 1 { "this session" } else { "these sessions" };
        let question = format!("{}Delete {these} for good?", names.concat());
        if !confirmed(&question, "delete", "`--yes` deletes without asking", printer)? {
            printer.note("nothing was deleted");
            return Ok(Exit::Failed);
        }
    }
    for found in all {
        place.store_to_change(&found)?.delete(&found.summary.id).map_err(explained)?;
        printer.note(format!("deleted {}", named(&found)));
    }
    Ok(Exit::Done)
}
