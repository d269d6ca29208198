//! `musher sessions show`.

use super::place::{Found, Place, explained};
use super::transcript::Transcript;
use crate::args::sessions::Show;
use crate::exit::{Exit, Failure};
use crate::look::Look;
use crate::printer::Printer;

pub(super) fn run(place: &Place, args: &Show, printer: Printer) -> Result<Exit, Failure> {
    let found = place.find(&args.id)?;
    let transcript = transcript(place, found)?;
    if args.json {
        printer.json(&serde_json::to_string_pretty(&transcript.json())?)?;
    } else if args.markdown {
        printer.exact(transcript.markdown(args.full).trim_end())?;
    } else {
        printer.data(transcript.text(args.full, Look::of_stdout()))?;
    }
    if let Some(damage) = transcript.damage() {
        printer.note(format!("note: {damage}"));
    }
    Ok(Exit::Done)
}

/// All of a session.
pub(super) fn transcript(place: &Place, found: Found) -> Result<Transcript, Failure> {
    let stored = place.store(&found).read(&found.summary.id).map_err(explained)?;
    Ok(Transcript::new(found, stored))
}
