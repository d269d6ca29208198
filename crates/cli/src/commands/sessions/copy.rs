//! `musher sessions fork`: a copy to go on with, in our home, whosever the session is.

use musher_engine::SessionId;
use musher_engine::store::StoreError;
use serde_json::json;

use super::place::{Found, Place, explained, new_id};
use crate::args::sessions::{Fork, Owner};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

pub(super) fn run(place: &Place, args: &Fork, printer: Printer) -> Result<Exit, Failure> {
    let found = place.find(&args.id)?;
    let new = new_id();
    copy(place, args, &found, &new).map_err(explained)?;
    if args.json {
        printer.json(&json!({"id": new.as_str(), "parent": found.summary.id.as_str()}).to_string())?;
    } else {
        printer.data(new.as_str())?;
    }
    Ok(Exit::Done)
}

fn copy(place: &Place, args: &Fork, found: &Found, new: &SessionId) -> Result<(), StoreError> {
    let id = &found.summary.id;
    let fork = || place.ours.fork(id, new, args.title.as_deref(), args.before.as_deref());
    match &place.droids {
        Some((home, _)) if found.owner == Owner::Droid => {
            // taken over under its own id, copied, and given up again: only the copy stays
            place.ours.import(home, id)?;
            let copied = fork();
            place.ours.delete(id)?;
            copied
        }
        _ => fork(),
    }
}
