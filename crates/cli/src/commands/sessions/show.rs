//! `musher sessions show`.

use super::stores::{Found, SessionStores, explained};
use super::transcript::Transcript;
use crate::args::sessions::Show;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::style::Style;

pub(super) fn run(stores: &SessionStores, args: &Show, printer: Printer) -> Result<Exit, Failure> {
    let found = stores.find(&args.id)?;
    let transcript = transcript(stores, found)?;
    if args.json {
        printer.json(&serde_json::to_string_pretty(&transcript.json())?)?;
    } else if args.markdown {
        printer.exact(transcript.markdown(args.full).trim_end())?;
    } else {
        printer.data(transcript.text(args.full, Style::of_stdout()))?;
    }
    if let Some(damage) = transcript.damage() {
        printer.note(format!("note: {damage}"));
    }
    Ok(Exit::Done)
}

/// All of a session.
pub(super) fn transcript(stores: &SessionStores, found: Found) -> Result<Transcript, Failure> {
    let stored = stores.store(&found).read(&found.summary.id).map_err(explained)?;
    Ok(Transcript::new(found, stored))
}
