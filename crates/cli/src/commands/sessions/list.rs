//! `musher sessions list`.

use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;

use super::place::{Found, Place};
use super::when;
use crate::args::sessions::List;
use crate::exit::{Exit, Failure};
use crate::look::{Look, padded};
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::styled::Styled;

/// The longest title in a line.
const LONGEST_TITLE: usize = 200;
/// So much of an id is shown at least.
const SHORTEST_ID: usize = 8;

pub(super) fn run(place: &Place, args: &List, printer: Printer) -> Result<Exit, Failure> {
    let cwd = args.cwd.as_deref().unwrap_or(Path::new("."));
    let mut found = place.all((!args.all).then_some(cwd), args.which.of, args.which.archived);
    let more = found.len().saturating_sub(args.limit);
    found.truncate(args.limit);
    if args.which.json {
        let list: Vec<Value> = found.iter().map(Found::json).collect();
        printer.json(&serde_json::to_string_pretty(&list)?)?;
        return Ok(Exit::Done);
    }
    let everywhere = place.all(None, None, true);
    for line in table(&found, &everywhere, args.all, Look::of_stdout(), SystemTime::now()) {
        printer.data(line)?;
    }
    if let Some(note) = note(args, &found, more, everywhere.len()) {
        printer.note(note);
    }
    Ok(Exit::Done)
}

/// One line for each session.
fn table(found: &[Found], everywhere: &[Found], with_cwd: bool, look: Look, now: SystemTime) -> Vec<Styled> {
    let ids: Vec<&str> = everywhere.iter().map(|session| session.summary.id.as_str()).collect();
    let rows: Vec<_> = found
        .iter()
        .map(|session| {
            let summary = &session.summary;
            let id = shortened(summary.id.as_str(), &ids).to_owned();
            (id, when::ago(summary.modified, now), session)
        })
        .collect();
    let widest = |column: fn(&(String, String, &Found)) -> usize| rows.iter().map(column).max().unwrap_or(0);
    let (ids, times) = (widest(|row| row.0.len()), widest(|row| row.1.len()));
    let line = |(id, time, session): &(String, String, &Found)| {
        let owner = padded(session.owner.name(), 6);
        let mut rest = sanitized(session.title(), LONGEST_TITLE);
        if session.summary.is_archived {
            rest.push_str(" (archived)");
        }
        if let Some(cwd) = session.summary.cwd.as_ref().filter(|_| with_cwd) {
            rest = format!("{}  {rest}", sanitized(&cwd.to_string_lossy(), LONGEST_TITLE));
        }
        let rest = look.fitted(&rest, ids + times + 6 + 6);
        let (id, time) = (padded(id, ids), padded(time, times));
        look.notable(&id) + "  " + look.dim(&time) + format!("  {owner}  {rest}")
    };
    rows.iter().map(line).collect()
}

/// So much of an id that no other session begins so.
fn shortened<'a>(id: &'a str, ids: &[&str]) -> &'a str {
    let is_alone = |length: usize| {
        ids.iter().filter(|other| other.get(..length).is_some_and(|start| start == &id[..length])).count()
            <= 1
    };
    let length = (SHORTEST_ID.min(id.len())..=id.len()).find(|length| is_alone(*length));
    &id[..length.unwrap_or(id.len())]
}

/// What the list does not say.
fn note(args: &List, found: &[Found], more: usize, everywhere: usize) -> Option<String> {
    if more > 0 {
        return Some(format!("{more} more; `--limit {}` shows them", found.len() + more));
    }
    if !found.is_empty() {
        return None;
    }
    let here = if args.all { "no sessions" } else { "no sessions of this directory" };
    Some(match everywhere {
        0 => format!("{here}; `musher exec` makes one"),
        _ if args.all => here.to_owned(),
        _ => format!("{here}; `musher sessions list --all` shows those of all directories"),
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
    fn a_line_is_no_wider_than_the_terminal() {
        let summary = Summary {
            id: SessionId::new("12345678-aa").unwrap(),
            title: "\u{1b}[2J a long title that goes on and on".to_owned(),
            session_title: None,
            owner: String::new(),
            cwd: Some(PathBuf::from("/work")),
            parent: None,
            modified: SystemTime::UNIX_EPOCH,
            created: SystemTime::UNIX_EPOCH,
            is_archived: false,
        };
        let found = [Found { owner: Owner::Musher, summary }];
        let lines = |look| table(&found, &found, true, look, SystemTime::UNIX_EPOCH);
        assert_eq!(lines(Look::plain(Some(40))), ["12345678  now  musher  /work   [2J a lo…"]);
        assert_eq!(
            lines(Look::plain(None)),
            ["12345678  now  musher  /work   [2J a long title that goes on and on"]
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
