//! `musher sessions delete`: asks for confirmation on the terminal; without a terminal only `--yes` confirms.

use super::change::{all_of, named};
use super::stores::{SessionStores, explained};
use crate::args::sessions::Delete;
use crate::commands::confirm::confirmed;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

pub(super) fn run(stores: &SessionStores, args: &Delete, printer: Printer) -> Result<Exit, Failure> {
    let all = all_of(stores, &args.ids)?;
    if !args.yes {
        let names: Vec<String> = all.iter().map(|found| format!("  {}\n", named(found))).collect();
        let these = if all.len() == 1 { "this session" } else { "these sessions" };
        let question = format!("{}Delete {these} permanently?", names.concat());
        if !confirmed(&question, "pass `--yes` to delete without asking", printer)? {
            printer.note("nothing was deleted");
            return Ok(Exit::Failed);
        }
    }
    for found in all {
        stores.store_to_change(&found)?.delete(&found.summary.id).map_err(explained)?;
        printer.note(format!("deleted {}", named(&found)));
    }
    Ok(Exit::Done)
}
