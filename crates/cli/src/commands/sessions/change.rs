//! `musher sessions rename`, `archive` and `unarchive`. A session that somebody has open is left alone.

use anyhow::anyhow;
use musher_engine::store::{Log, Result as Stored};

use super::place::{Found, Place, explained};
use crate::args::sessions::{Archive, Rename};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;

/// The longest title that is given.
const LONGEST_TITLE: usize = 200;

pub(super) fn rename(place: &Place, args: &Rename, printer: Printer) -> Result<Exit, Failure> {
    let title = args.title.trim();
    if title.is_empty() || title.chars().count() > LONGEST_TITLE || title.chars().any(char::is_control) {
        let failure = Failure::setup(anyhow!("that is no title"));
        return Err(failure.hint(format!("a title is one line of 1 to {LONGEST_TITLE} characters")));
    }
    let found = place.find(&args.id)?;
    change(place, &found, |log| log.set_title(title, true).map(drop))?;
    printer.note(format!("{} is now called {title}", found.summary.id));
    Ok(Exit::Done)
}

pub(super) fn archive(place: &Place, args: &Archive, printer: Printer) -> Result<Exit, Failure> {
    for found in all_of(place, &args.ids)? {
        change(place, &found, Log::archive)?;
        printer.note(format!("put away {}", named(&found)));
    }
    Ok(Exit::Done)
}

pub(super) fn unarchive(place: &Place, args: &Archive, printer: Printer) -> Result<Exit, Failure> {
    for found in all_of(place, &args.ids)? {
        change(place, &found, Log::unarchive)?;
        printer.note(format!("took out {}", named(&found)));
    }
    Ok(Exit::Done)
}

/// The sessions that are meant. All are found and may be changed before the first one is.
pub(super) fn all_of(place: &Place, ids: &[String]) -> Result<Vec<Found>, Failure> {
    let mut all: Vec<Found> = Vec::new();
    for id in ids {
        let found = place.find(id)?;
        place.store_to_change(&found)?;
        if all.iter().all(|other| other.summary.id != found.summary.id) {
            all.push(found);
        }
    }
    Ok(all)
}

/// A session in a note.
pub(super) fn named(found: &Found) -> String {
    format!("{} ({})", found.summary.id, sanitized(found.title(), 60))
}

fn change(place: &Place, found: &Found, change: impl FnOnce(&mut Log) -> Stored<()>) -> Result<(), Failure> {
    let mut loaded = place.store_to_change(found)?.load(&found.summary.id).map_err(explained)?;
    change(&mut loaded.log).map_err(explained)
}
