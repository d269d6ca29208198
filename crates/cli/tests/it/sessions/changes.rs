//! Renaming, forking, archiving and deleting sessions; and droid's files, which stay unchanged.

use super::stage::{DROIDS, FIRST, Home, SECOND, fails, notes, session_id};
use crate::program::musher_with;

#[test]
fn session_gets_another_title() {
    let home = Home::new();
    let run = home.musher(&["sessions", "rename", "aaaa1", "Tropical fruit"]);
    assert_eq!(run, notes(format!("renamed {FIRST} to Tropical fruit\n")));
    assert_eq!(home.store().read(&session_id(FIRST)).unwrap().start.title(), "Tropical fruit");
    let run = home.musher(&["sessions", "rename", "aaaa1", "two\nlines"]);
    let expected = "error: invalid title\n\nhint: a title is one line of 1 to 200 characters\n";
    assert_eq!(run, fails(2, expected));
}

#[test]
fn renamed_session_keeps_its_place_and_its_time_of_creation() {
    let home = Home::new();
    let times = |home: &Home| -> Vec<serde_json::Value> {
        let run = home.musher(&["sessions", "list", "--json"]);
        let list: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let list = list.as_array().unwrap().iter();
        list.map(|session| serde_json::json!([session["id"], session["created"], session["modified"]]))
            .collect()
    };
    let before = times(&home);
    for title in ["One", "Two"] {
        assert_eq!(home.musher(&["sessions", "rename", FIRST, title]).code, Some(0));
    }
    assert_eq!(times(&home), before);
}

#[test]
fn fork_has_its_own_id_and_the_conversation() {
    let home = Home::new();
    let run = home.musher(&["sessions", "fork", "aaaa1", "--title", "Another way"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let copy = home.store().read(&session_id(run.stdout.trim())).unwrap();
    assert_eq!((copy.start.title(), copy.start.parent()), ("Another way", Some(FIRST)));
    assert_eq!(copy.messages.len(), 2);

    let run = home.musher(&["sessions", "fork", "aaaa1", "--before", "m1"]);
    assert_eq!(home.store().read(&session_id(run.stdout.trim())).unwrap().messages.len(), 1);
    let run = home.musher(&["sessions", "fork", "aaaa1", "--before", "no-such"]);
    let expected = format!(
        "error: session {FIRST} has no message no-such\n\nhint: `musher sessions show ID --json` lists the message ids\n"
    );
    assert_eq!(run, fails(2, expected));
}

#[test]
fn copy_of_droids_session_is_ours_and_droids_files_stay_as_they_are() {
    let home = Home::new();
    let before = home.droids_files();
    let run = home.musher(&["sessions", "fork", "dddd"]);
    let copy = home.store().read(&session_id(run.stdout.trim())).unwrap();
    assert_eq!((copy.messages.len(), copy.start.parent()), (2, Some(DROIDS)));
    assert!(home.store().find(&session_id(DROIDS)).is_none(), "only the copy is ours");

    for arguments in [
        &["sessions", "rename", "dddd", "x"][..],
        &["sessions", "archive", "dddd"],
        &["sessions", "unarchive", "dddd"],
        &["sessions", "delete", "dddd", "--yes"],
    ] {
        let expected = format!(
            "error: cannot change session {DROIDS}: it belongs to droid\n\n\
             hint: `musher sessions fork {DROIDS}` copies it to musher's sessions\n\
             hint: set MUSHER_HOME=~/.factory to let musher use droid's files as its own\n"
        );
        assert_eq!(home.musher(arguments), fails(2, expected), "{arguments:?}");
    }
    for arguments in [&["sessions", "show", "dddd"][..], &["sessions", "search", "fruit"]] {
        assert_eq!(home.musher(arguments).code, Some(0));
    }
    assert_eq!(home.droids_files(), before);
}

#[test]
fn droids_home_can_be_made_ours() {
    let home = Home::new();
    let run = musher_with(&["sessions", "rename", "dddd", "Mine now"], |command| {
        command.env("HOME", home.path()).env("MUSHER_HOME", home.path().join(".factory"));
    });
    assert_eq!(run, notes(format!("renamed {DROIDS} to Mine now\n")));
}

#[test]
fn archived_sessions_are_listed_only_on_request() {
    let home = Home::new();
    let run = home.musher(&["sessions", "archive", "aaaa1", "aaaa2"]);
    assert_eq!(run, notes(format!("archived {FIRST} (Fruit)\narchived {SECOND} (Parsers)\n")));
    assert_eq!(home.musher(&["sessions"]).stdout, "dddd3333  2020-01-01  droid   Droid's talk\n");
    let run = home.musher(&["sessions", "list", "--archived", "--owner", "musher"]);
    assert!(run.stdout.contains("musher  Fruit (archived)\n"), "{}", run.stdout);
    assert_eq!(home.musher(&["sessions", "search", "mango"]).code, Some(1));
    assert_eq!(home.musher(&["sessions", "search", "mango", "--archived"]).code, Some(0));
    assert_eq!(home.musher(&["sessions", "unarchive", FIRST]), notes(format!("restored {FIRST} (Fruit)\n")));
    assert!(home.musher(&["sessions"]).stdout.contains("Fruit\n"));
}

#[test]
fn deleting_needs_a_yes() {
    let home = Home::new();
    let run = home.musher(&["sessions", "delete", "aaaa1"]);
    let expected = "error: cannot ask for confirmation: stdin is not a terminal\n\nhint: pass `--yes` to delete without asking\n";
    assert_eq!(run, fails(2, expected));
    assert!(home.store().find(&session_id(FIRST)).is_some());
    // all are found before the first one goes
    assert_eq!(home.musher(&["sessions", "delete", "aaaa1", "no-such", "--yes"]).code, Some(2));
    assert!(home.store().find(&session_id(FIRST)).is_some());
    let run = home.musher(&["sessions", "delete", "aaaa1", "--yes"]);
    assert_eq!(run, notes(format!("deleted {FIRST} (Fruit)\n")));
    assert!(home.store().find(&session_id(FIRST)).is_none());
}

#[test]
fn session_that_runs_elsewhere_is_left_alone_and_can_be_read() {
    let home = Home::new();
    let _open = home.open(FIRST);
    let pid = std::process::id();
    for arguments in [
        &["sessions", "rename", "aaaa1", "x"][..],
        &["sessions", "archive", "aaaa1"],
        &["sessions", "delete", "aaaa1", "--yes"],
    ] {
        let expected = format!(
            "error: session {FIRST} is running in process {pid}\n\nhint: wait until its turn has ended; it can be read and forked meanwhile\n"
        );
        assert_eq!(home.musher(arguments), fails(1, expected), "{arguments:?}");
    }
    assert_eq!(home.musher(&["sessions", "show", "aaaa1"]).code, Some(0));
    assert_eq!(home.musher(&["sessions", "fork", "aaaa1"]).code, Some(0));
}
