//! `musher sessions list`.

use std::path::Path;
use std::time::SystemTime;

use musher::SessionInfo;
use musher::wire::DroidWorkingState;
use serde_json::Value;

use super::super::usage::cost;
use super::stores::{Found, SessionStores};
use super::timestamp;
use crate::args::sessions::List;
use crate::daemon_client::states;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::style::{Style, padded};
use crate::styled::Styled;

/// Maximum length of a title in a line.
const MAX_TITLE_LENGTH: usize = 200;
/// Minimum length of a shown id.
const MIN_ID_LENGTH: usize = 8;

pub(super) async fn run(stores: &SessionStores, args: &List, printer: Printer) -> Result<Exit, Failure> {
    let cwd = args.cwd.as_deref().unwrap_or(Path::new("."));
    let mut found = stores.all((!args.all).then_some(cwd), args.filter.owner, args.filter.archived);
    found.retain(|session| !session.summary.is_unused);
    let states = states().await;
    let more = found.len().saturating_sub(args.limit);
    found.truncate(args.limit);
    if args.filter.json {
        let list: Vec<Value> = found.iter().map(|session| with_state(session, &states)).collect();
        printer.json(&serde_json::to_string_pretty(&list)?)?;
        return Ok(Exit::Done);
    }
    let everywhere = stores.all(None, None, true);
    for line in table(&found, &everywhere, &states, args.all, Style::of_stdout(), SystemTime::now()) {
        printer.data(line)?;
    }
    if let Some(note) = note(args, &found, more, everywhere.len()) {
        printer.note(note);
    }
    Ok(Exit::Done)
}

/// Id, time of last use, cost, and the session.
type Row<'a> = (String, String, String, &'a Found);

/// One line for each session.
fn table(
    found: &[Found],
    everywhere: &[Found],
    states: &[SessionInfo],
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
            let spent = session.spending().map(|spending| cost(&spending)).unwrap_or_default();
            (id, timestamp::ago(summary.modified, now), spent, session)
        })
        .collect();
    let widest = |column: fn(&Row<'_>) -> usize| rows.iter().map(column).max().unwrap_or(0);
    let (ids, times, costs) =
        (widest(|row| row.0.len()), widest(|row| row.1.len()), widest(|row| row.2.len()));
    let line = |(id, time, spent, session): &Row<'_>| {
        let owner = padded(session.owner.name(), 6);
        let mut rest = sanitized(session.title(), MAX_TITLE_LENGTH);
        if let Some(state) = state(session, states) {
            rest = format!("[{}]  {rest}", state_name(state));
        }
        if session.summary.is_archived {
            rest.push_str(" (archived)");
        }
        if let Some(cwd) = session.summary.cwd.as_ref().filter(|_| with_cwd) {
            rest = format!("{}  {rest}", sanitized(&cwd.to_string_lossy(), MAX_TITLE_LENGTH));
        }
        let spent = if costs > 0 { format!("  {spent:>costs$}") } else { String::new() };
        let rest = style.fitted(&rest, ids + times + 6 + 6 + spent.len());
        let (id, time) = (padded(id, ids), padded(time, times));
        style.notable(&id) + "  " + style.dim(&time) + format!("  {owner}{spent}  {rest}")
    };
    rows.iter().map(line).collect()
}

/// Returns the state of a session that is open in the daemon.
fn state<'a>(session: &Found, states: &'a [SessionInfo]) -> Option<&'a DroidWorkingState> {
    let open = states.iter().find(|open| open.session_id == session.summary.id.as_str())?;
    open.working_state.as_ref()
}

fn state_name(state: &DroidWorkingState) -> String {
    match state {
        DroidWorkingState::Idle => "open".to_owned(),
        DroidWorkingState::WaitingForToolConfirmation => "waits for you".to_owned(),
        DroidWorkingState::Unrecognized(name) => sanitized(name, MAX_TITLE_LENGTH),
        _ => "works".to_owned(),
    }
}

fn with_state(session: &Found, states: &[SessionInfo]) -> Value {
    let mut value = session.json();
    if let Some(state) = state(session, states) {
        value["state"] = serde_json::to_value(state).unwrap_or_default();
    }
    value
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
    fn line_is_at_most_as_wide_as_the_terminal() {
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
            is_unused: false,
            additional_directories: Vec::new(),
            log: PathBuf::new(),
        };
        let found = [Found { owner: Owner::Musher, summary }];
        let lines = |style| table(&found, &found, &[], true, style, SystemTime::UNIX_EPOCH);
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
