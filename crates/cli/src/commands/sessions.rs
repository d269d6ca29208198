//! `musher sessions`: the sessions on disk, musher's and droid's. No agent is started, and droid's files are never changed.

mod change;
mod copy;
mod delete;
mod export;
mod list;
mod search;
mod show;
mod stores;
mod timestamp;
mod transcript;

use crate::args::sessions::{Action, Sessions};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use stores::SessionStores;

pub(crate) fn run(args: Sessions, printer: Printer) -> Result<Exit, Failure> {
    let stores = SessionStores::of_user()?;
    match args.action {
        None => list::run(&stores, &args.list, printer),
        Some(Action::List(list)) => list::run(&stores, &list, printer),
        Some(Action::Show(show)) => show::run(&stores, &show, printer),
        Some(Action::Search(search)) => search::run(&stores, &search, printer),
        Some(Action::Rename(rename)) => change::rename(&stores, &rename, printer),
        Some(Action::Fork(fork)) => copy::run(&stores, &fork, printer),
        Some(Action::Archive(archive)) => change::archive(&stores, &archive, printer),
        Some(Action::Unarchive(archive)) => change::unarchive(&stores, &archive, printer),
        Some(Action::Delete(delete)) => delete::run(&stores, &delete, printer),
        Some(Action::Export(export)) => export::run(&stores, &export, printer),
    }
}
