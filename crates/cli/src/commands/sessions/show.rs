//! `musher sessions show`.

use std::io::Write as _;

use super::stores::{Found, SessionStores, explained};
use super::transcript::Transcript;
use crate::args::sessions::Show;
use crate::exit::{Exit, Failure};
use crate::printer::{Form, Printer};
use crate::style::Style;

pub(super) fn run(stores: &SessionStores, args: &Show, printer: Printer) -> Result<Exit, Failure> {
    let found = stores.find(&args.id)?;
    let transcript = transcript(stores, found)?;
    if args.json {
        let mut out = printer.stream(Form::Json);
        transcript.json(&mut out)?;
        writeln!(out)?;
        out.flush()?;
    } else if args.markdown {
        let mut out = printer.stream(Form::Exact);
        transcript.markdown(args.full, &mut out)?;
        out.flush()?;
    } else {
        let mut out = printer.stream(Form::Safe);
        transcript.text(args.full, Style::of_stdout(), &mut |line| writeln!(out, "{}", line.as_str()))?;
        out.flush()?;
    }
    if let Some(damage) = transcript.damage() {
        printer.note(format!("note: {damage}"));
    }
    Ok(Exit::Done)
}

/// Returns all of a session.
pub(super) fn transcript(stores: &SessionStores, found: Found) -> Result<Transcript, Failure> {
    let reading = stores.store(&found).read_messages(&found.summary.id).map_err(explained)?;
    Ok(Transcript::new(found, reading))
}
