//! `musher sessions`: what is on disk, ours and droid's. No agent is started, and droid's files are never changed.

mod change;
mod copy;
mod delete;
mod export;
mod list;
mod place;
mod search;
mod show;
mod transcript;
mod when;

use crate::args::sessions::{Action, Sessions};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use place::Place;

pub(crate) fn run(args: Sessions, printer: Printer) -> Result<Exit, Failure> {
    let place = Place::of_user()?;
    match args.action {
        None => list::run(&place, &args.list, printer),
        Some(Action::List(list)) => list::run(&place, &list, printer),
        Some(Action::Show(show)) => show::run(&place, &show, printer),
        Some(Action::Search(search)) => search::run(&place, &search, printer),
        Some(Action::Rename(rename)) => change::rename(&place, &rename, printer),
        Some(Action::Fork(fork)) => copy::run(&place, &fork, printer),
        Some(Action::Archive(archive)) => change::archive(&place, &archive, printer),
        Some(Action::Unarchive(archive)) => change::unarchive(&place, &archive, printer),
        Some(Action::Delete(delete)) => delete::run(&place, &delete, printer),
        Some(Action::Export(export)) => export::run(&place, &export, printer),
    }
}
