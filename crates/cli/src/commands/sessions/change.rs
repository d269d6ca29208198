//! `musher sessions rename`, `archive` and `unarchive`. A session that another process has open is not changed.

use anyhow::anyhow;
use musher_engine::store::{Log, Result as Stored};

use super::stores::{Found, SessionStores, explained};
use crate::args::sessions::{Archive, Rename};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;

/// Maximum length of a title, in characters.
const MAX_TITLE_LENGTH: usize = 200;

pub(super) fn rename(stores: &SessionStores, args: &Rename, printer: Printer) -> Result<Exit, Failure> {
    let title = args.title.trim();
    if title.is_empty() || title.chars().count() > MAX_TITLE_LENGTH || title.chars().any(char::is_control) {
        let failure = Failure::setup(anyhow!("invalid title"));
        return Err(failure.hint(format!("a title is one line of 1 to {MAX_TITLE_LENGTH} characters")));
    }
    let found = stores.find(&args.id)?;
    change(stores, &found, |log| log.set_title(title, true).map(drop))?;
    printer.note(format!("renamed {} to {title}", found.summary.id));
    Ok(Exit::Done)
}

pub(super) fn archive(stores: &SessionStores, args: &Archive, printer: Printer) -> Result<Exit, Failure> {
    for found in all_of(stores, &args.ids)? {
        change(stores, &found, Log::archive)?;
        printer.note(format!("archived {}", named(&found)));
    }
    Ok(Exit::Done)
}

pub(super) fn unarchive(stores: &SessionStores, args: &Archive, printer: Printer) -> Result<Exit, Failure> {
    for found in all_of(stores, &args.ids)? {
        change(stores, &found, Log::unarchive)?;
        printer.note(format!("restored {}", named(&found)));
    }
    Ok(Exit::Done)
}

/// Finds the sessions of the arguments. Checks all of them before the first one is changed.
pub(super) fn all_of(stores: &SessionStores, ids: &[String]) -> Result<Vec<Found>, Failure> {
    let mut all: Vec<Found> = Vec::new();
    for id in ids {
        let found = stores.find(id)?;
        stores.store_to_change(&found)?;
        if all.iter().all(|other| other.summary.id != found.summary.id) {
            all.push(found);
        }
    }
    Ok(all)
}

/// Names a session in a note.
pub(super) fn named(found: &Found) -> String {
    format!("{} ({})", found.summary.id, sanitized(found.title(), 60))
}

fn change(
    stores: &SessionStores,
    found: &Found,
    change: impl FnOnce(&mut Log) -> Stored<()>,
) -> Result<(), Failure> {
    let mut log = stores.store_to_change(found)?.load_log(&found.summary.id).map_err(explained)?;
    change(&mut log).map_err(explained)
}
