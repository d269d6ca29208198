//! `musher sessions list`.

use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;

use super::stores::{Found, SessionStores};
use super::timestamp;
use crate::args::sessions::List;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::style::{Style, padded};
use crate::styled::Styled;

/// Maximum length of a title in a line.
const MAX_TITLE_LENGTH: usize = 200;
/// Minimum length of a shown id.
const MIN_ID_LENGTH: usize = 8;

pub(super) fn run(stores: &SessionStores, args: &List, printer: Printer) -> Result<Exit, Failure> {
    let cwd = args.cwd.as_deref().unwrap_or(Path::new("."));
    let mut found = stores.all((!args.all).then_some(cwd), args.filter.owner, args.filter.archived);
    let more = found.len().saturating_sub(args.limit);
    found.truncate(args.limit);
    if args.filter.json {
        let list: Vec<Value> = found.iter().map(Found::json).collect();
        printer.json(&serde_json::to_string_pretty(&list)?)?;
        return Ok(Exit::Done);
    }
    let everywhere = stores.all(None, None, true);
    for line in table(&found, &everywhere, args.all, Style::of_stdout(), SystemTime::now()) {
        printer.data(line)?;
    }
    if let Some(note) = note(args, &found, more, everywhere.len()) {
        printer.note(note);
    }
    Ok(Exit::Done)
}

/// One line for each session.
fn table(
    found: &[Found],
    everywhere: &[Found],
    with_cwd: bool,
    style: Style,
    now: SystemTime,
) -> Vec<Styled> {
    let ids: Vec<&str> = everywhere.iter().map(|session| session.summary.id.as_str()).collect();
    let rows: Vec<_> = found
        .iter()
        .map(|session| {
            let summary = &session.summary;
            let id = shortened(summary.id.as_str(), &ids).to_owned();
            (id, timestamp::ago(summary.modified, now), session)
        })
        .collect();
    let widest = |column: fn(&(String, String, &Found)) -> usize| rows.iter().map(column).max().unwrap_or(0);
    let (ids, times) = (widest(|row| row.0.len()), widest(|row| row.1.len()));
    let line = |(id, time, session): &(String, String, &Found)| {
        let owner = padded(session.owner.name(), 6);
        let mut rest = sanitized(session.title(), MAX_TITLE_LENGTH);
        if session.summary.is_archived {
            rest.push_str(" (archived)");
        }
        if let Some(cwd) = session.summary.cwd.as_ref().filter(|_| with_cwd) {
            rest = format!("{}  {rest}", sanitized(&cwd.to_string_lossy(), MAX_TITLE_LENGTH));
        }
        let rest = style.fitted(&rest, ids + times + 6 + 6);
        let (id, time) = (padded(id, ids), padded(time, times));
        style.notable(&id) + "  " + style.dim(&time) + format!("  {owner}  {rest}")
    };
    rows.iter().map(line).collect()
}

/// Returns the shortest prefix of an id that no other session has.
fn shortened<'a>(id: &'a str, ids: &[&str]) -> &'a str {
    let is_alone = |length: usize| {
        ids.iter().filter(|other| other.get(..length).is_some_and(|start| start == &id[..length])).count()
            <= 1
    };
    let length = (MIN_ID_LENGTH.min(id.len())..=id.len()).find(|length| is_alone(*length));
    &id[..length.unwrap_or(id.len())]
}

/// Returns a note about sessions that the list omits, or about an empty list.
fn note(args: &List, found: &[Found], more: usize, everywhere: usize) -> Option<String> {
    if more > 0 {
        return Some(format!("{more} more; `--limit {}` shows them", found.len() + more));
    }
    if !found.is_empty() {
        return None;
    }
    let here = if args.all { "no sessions" } else { "no sessions in this directory" };
    Some(match everywhere {
        0 => format!("{here}; `musher run` creates one"),
        _ if args.all => here.to_owned(),
        _ => format!("{here}; `musher sessions list --all` lists all directories"),
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use musher_engine::SessionId;
    use musher_engine::store::Summary;

    use super::*;
    use crate::args::sessions::Owner;

    #[test]
    fn a_line_is_at_most_as_wide_as_the_terminal() {
        let summary = Summary {
            id: SessionId::new("12345678-aa").unwrap(),
            title: "\u{1b}[2J a long title that runs on and on".to_owned(),
            session_title: None,
            owner: String::new(),
            cwd: Some(PathBuf::from("/work")),
            parent: None,
            modified: SystemTime::UNIX_EPOCH,
            created: SystemTime::UNIX_EPOCH,
            is_archived: false,
            additional_directories: Vec::new(),
            log: PathBuf::new(),
        };
        let found = [Found { owner: Owner::Musher, summary }];
        let lines = |style| table(&found, &found, true, style, SystemTime::UNIX_EPOCH);
        assert_eq!(lines(Style::plain(Some(40))), ["12345678  now  musher  /work   [2J a lo…"]);
        assert_eq!(
            lines(Style::plain(None)),
            ["12345678  now  musher  /work   [2J a long title that runs on and on"]
        );
    }

    #[test]
    fn ids_are_shortened_as_far_as_they_stay_apart() {
        let ids = ["12345678-aa", "12345678-ab", "99999999-zz", "short"];
        assert_eq!(shortened("12345678-aa", &ids), "12345678-aa");
        assert_eq!(shortened("99999999-zz", &ids), "99999999");
        assert_eq!(shortened("short", &ids), "short");
    }
}
