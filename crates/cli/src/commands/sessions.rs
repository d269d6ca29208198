//! `musher sessions`: the sessions on disk, musher's and droid's. Only `compact` starts an agent, and droid's files are never changed.

mod change;
mod compact;
mod copy;
mod delete;
mod export;
mod list;
mod search;
mod show;
mod stores;
mod summary;
pub(crate) mod timestamp;
mod transcript;

use crate::args::sessions::{Action, Sessions};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use stores::SessionStores;

pub(crate) async fn run(args: Sessions, printer: Printer) -> Result<Exit, Failure> {
    let stores = SessionStores::of_user()?;
    match args.action {
        None => list::run(&stores, &args.list, printer).await,
        Some(Action::List(list)) => list::run(&stores, &list, printer).await,
        Some(Action::Show(show)) => show::run(&stores, &show, printer),
        Some(Action::Search(search)) => search::run(&stores, &search, printer),
        Some(Action::Rename(rename)) => change::rename(&stores, &rename, printer),
        Some(Action::Fork(fork)) => copy::run(&stores, &fork, printer),
        Some(Action::Archive(archive)) => change::archive(&stores, &archive, printer),
        Some(Action::Unarchive(archive)) => change::unarchive(&stores, &archive, printer),
        Some(Action::Compact(compact)) => compact::run(&stores, &compact, printer).await,
        Some(Action::Summary(summary)) => summary::run(&stores, &summary, printer),
        Some(Action::Delete(delete)) => delete::run(&stores, &delete, printer),
        Some(Action::Export(export)) => export::run(&stores, &export, printer),
    }
}

/// Returns a session as Markdown, whole.
pub(crate) fn markdown(id: &str) -> Result<String, Failure> {
    let stores = SessionStores::of_user()?;
    let found = stores.find(id)?;
    let mut text = Vec::new();
    show::transcript(&stores, found)?.markdown(true, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Returns how long ago a moment was, as people say it.
pub(crate) fn ago(at: std::time::SystemTime) -> String {
    timestamp::ago(at, std::time::SystemTime::now())
}
