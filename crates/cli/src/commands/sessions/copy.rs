//! `musher sessions fork`: a copy in our home, of a session of musher or droid.

use musher_engine::SessionId;
use musher_engine::store::StoreError;
use serde_json::json;

use super::stores::{Found, SessionStores, explained, new_id};
use crate::args::sessions::{Fork, Owner};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

pub(super) fn run(stores: &SessionStores, args: &Fork, printer: Printer) -> Result<Exit, Failure> {
    let found = stores.find(&args.id)?;
    let new = new_id();
    copy(stores, args, &found, &new).map_err(explained)?;
    if args.json {
        printer.json(&json!({"id": new.as_str(), "parent": found.summary.id.as_str()}).to_string())?;
    } else {
        printer.data(new.as_str())?;
    }
    Ok(Exit::Done)
}

fn copy(stores: &SessionStores, args: &Fork, found: &Found, new: &SessionId) -> Result<(), StoreError> {
    let id = &found.summary.id;
    let fork = || stores.ours.fork(id, new, args.title.as_deref(), args.before.as_deref());
    match &stores.droids {
        Some((home, _)) if found.owner == Owner::Droid => {
            // import it under its own id, fork it, and remove the import: only the fork stays
            stores.ours.import(home, id)?;
            let copied = fork();
            stores.ours.delete(id)?;
            copied
        }
        _ => fork(),
    }
}
