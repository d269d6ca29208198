//! In a real terminal: deleting asks, lists fit and are coloured.

use super::stage::{FIRST, Home, session_id};
use crate::program::command;
use crate::pty::Terminal;

fn terminal(home: &Home, arguments: &[&str]) -> Terminal {
    let mut command = command(arguments);
    command.env("HOME", home.path()).env("TERM", "xterm-256color").current_dir(home.work());
    Terminal::start(command)
}

#[test]
fn deleting_asks_and_only_a_yes_deletes() {
    let home = Home::new();
    for (answer, code, said) in [("\n", 1, "nothing was deleted"), ("y\n", 0, "deleted ")] {
        let mut terminal = terminal(&home, &["sessions", "delete", "aaaa1"]);
        terminal.until(&format!("{FIRST} (Fruit)"));
        terminal.until("Delete this session permanently? [y/N]");
        terminal.type_in(answer);
        terminal.until(said);
        assert_eq!(terminal.end(), Some(code), "{}", terminal.shown());
    }
    assert!(home.store().find(&session_id(FIRST)).is_none());
}

#[test]
fn list_is_coloured_and_no_wider_than_the_terminal() {
    let home = Home::empty();
    home.add(".musher", FIRST, &"long ".repeat(30), &["Hello.", "Hello."], 2);
    let mut terminal = terminal(&home, &["sessions"]);
    assert_eq!(terminal.end(), Some(0));
    assert!(terminal.raw().contains("\u{1b}[33maaaa1111\u{1b}[0m"), "{}", terminal.raw());
    let line = terminal.shown().lines().next().unwrap().to_owned();
    assert!(line.chars().count() == 100 && line.ends_with('…'), "{line}");
}
