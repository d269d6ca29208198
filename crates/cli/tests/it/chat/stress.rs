//! What terminals, models and accidents do to a chat.

use musher_rehearse::{Pieces, Reply, Script, when};

use super::screen::Screen;
use crate::run::stage::{Stage, execute, step};

/// A reply in these pieces.
fn pieces(texts: &[String]) -> Reply {
    Reply::text(Pieces::Explicit(texts.to_vec()))
}

#[test]
fn resizing_while_text_streams_leaves_every_line_once() {
    let lines: Vec<String> = (0..60).map(|number| format!("Paragraph number {number}.\n\n")).collect();
    let reply = pieces(&lines).delay_ms(0, 15).when(step(1));
    let stage = Stage::new(Script::new().reply(reply));
    let mut screen = Screen::start(&stage, &["count"]);
    for (number, size) in [(5, (60, 24)), (12, (40, 20)), (20, (120, 40)), (30, (80, 24))] {
        screen.until(&format!("Paragraph number {number}."));
        screen.resize(size);
    }
    screen.until("Paragraph number 59.");
    screen.until_idle();
    let rows = screen.all_rows();
    for number in 30..60 {
        let text = format!("Paragraph number {number}.");
        assert_eq!(rows.iter().filter(|row| **row == text).count(), 1, "{text}\n{}", rows.join("\n"));
    }
    assert_eq!(
        rows.iter().filter(|row| row.contains("› Ask for a change")).count(),
        1,
        "{}",
        rows.join("\n")
    );
    screen.quit();
}

fn words(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("w{number}{}", if number % 12 == 11 { "\n" } else { " " })).collect()
}

/// Checks that every word is there, in order.
fn check_words(screen: &mut Screen, count: usize) {
    let text = screen.all_rows().join(" ") + " ";
    let mut at = 0;
    for number in 0..count {
        let word = format!("w{number} ");
        let found = text[at..].find(&word).unwrap_or_else(|| panic!("{word} is not there in order"));
        at += found + word.len();
    }
}

#[test]
fn thousands_of_deltas_lose_nothing() {
    let reply = pieces(&words(20_000)).when(step(1));
    let stage = Stage::new(Script::new().reply(reply));
    let mut screen = Screen::sized(&stage, &["write a lot"], (100, 30));
    screen.until("w19999");
    screen.until_idle();
    check_words(&mut screen, 20_000);
    screen.quit();
}

#[test]
fn keys_are_taken_while_text_streams() {
    let reply = pieces(&words(4000)).delay_ms(0, 1).when(step(1));
    let stage = Stage::new(Script::new().reply(reply));
    let mut screen = Screen::sized(&stage, &["write a lot"], (100, 30));
    screen.until("w1");
    for (key, shown) in [("t", "› t"), ("y", "› ty"), ("p", "› typ"), ("\u{7f}", "› ty")] {
        screen.press(key);
        screen.until_it(shown, |screen| screen.rows().iter().any(|row| row == shown));
    }
    assert!(!screen.text().contains("w3999"), "it streams all the while");
    screen.until("w3999");
    screen.until_it("the end", |screen| !screen.text().contains("Esc interrupts"));
    check_words(&mut screen, 4000);
    screen.press("\u{3}");
    screen.until_idle();
    screen.quit();
}

#[test]
fn hostile_text_commands_nothing() {
    let hostile = "a\u{1b}[2Jb\u{1b}]0;owned\u{7}c\u{9b}31md\u{1b}[?1049h\u{1b}[6n\u{202e}e\n\n```\n\u{1b}[10;10Hcode\n```\n";
    let script = Script::new()
        .reply(execute("printf 'x\\033[2Jy\\033]0;owned\\007z'").when(step(1)))
        .reply(Reply::text(hostile).when(step(2)));
    let stage = Stage::new(script);
    let mut screen = Screen::start(&stage, &["--auto", "high", "speak"]);
    screen.until("d\\u{1b}[?1049h");
    screen.until_idle();
    let raw = screen.terminal.raw();
    for sequence in ["\u{1b}]0;owned", "\u{1b}[?1049h", "\u{1b}[6n", "\u{1b}[10;10H", "\u{9b}", "\u{202e}"] {
        assert!(!raw.contains(sequence), "{sequence:?}");
    }
    assert!(screen.text().contains("› speak"), "{}", screen.text());
    screen.quit();
}

#[test]
fn terminal_is_as_before_after_the_end_and_after_signals() {
    for how in ["quit", "TERM", "HUP"] {
        let stage = Stage::new(Script::new().reply(Reply::text("Hello.").when(when().with_tools())));
        let mut screen = Screen::start(&stage, &["hello"]);
        screen.until("Hello.");
        screen.until_idle();
        assert_ne!(screen.terminal.settings(), screen.terminal.settings_before(), "raw");
        let code = match how {
            "quit" => {
                screen.press("\u{4}");
                0
            }
            signal => {
                screen.terminal.signal(signal);
                if signal == "TERM" { 143 } else { 129 }
            }
        };
        screen.until_it("the modes are off", |screen| {
            let raw = screen.terminal.raw();
            raw.rfind("\u{1b}[?2004l") > raw.rfind("\u{1b}[?2004h")
        });
        assert_eq!(screen.end(), Some(code), "{how}");
        assert_eq!(screen.terminal.settings(), screen.terminal.settings_before(), "{how}");
    }
}

#[test]
fn killed_chat_leaves_the_session_and_the_draft() {
    let stage = Stage::new(Script::new().reply(Reply::text("The answer.").when(when().with_tools())));
    let mut screen = Screen::start(&stage, &["first prompt"]);
    screen.until("The answer.");
    screen.until_idle();
    screen.press("half a thought");
    screen.until("› half a thought");
    let drafts = stage.home().join("chat/drafts");
    screen.until_it("the draft is on disk", |_| {
        let found = fs_err::read_dir(&drafts).ok().and_then(|mut files| files.next()).and_then(Result::ok);
        found.is_some_and(|file| {
            fs_err::read_to_string(file.path()).is_ok_and(|text| text == "half a thought")
        })
    });
    screen.terminal.signal("KILL");
    assert_eq!(screen.end(), None);
    let mut screen = Screen::start(&stage, &["--continue"]);
    screen.until("› half a thought");
    let text = screen.text();
    assert!(text.contains("› first prompt") && text.contains("The answer."), "{text}");
    assert!(text.contains("── resumed"), "{text}");
}

#[test]
fn without_colors_there_are_none() {
    let stage = Stage::new(Script::new().reply(Reply::text("**strong** `code`").when(when().with_tools())));
    let mut command = stage.musher(&["chat", "hello"]);
    command.env("NO_COLOR", "1");
    let mut screen = Screen::of(command, (80, 24));
    screen.until("strong code");
    screen.until_idle();
    let raw = screen.terminal.raw();
    let styles: Vec<_> = raw
        .match_indices("\u{1b}[")
        .filter(|(at, _)| {
            let rest = &raw[at + 2..];
            let end = rest.find(|it: char| it.is_ascii_alphabetic()).unwrap_or(0);
            rest[end..].starts_with('m') && rest[..end] != *"0"
        })
        .collect();
    assert!(styles.is_empty(), "{styles:?}");
    screen.quit();
}

#[test]
fn dumb_terminal_gets_lines() {
    let stage = Stage::new(Script::new().reply(Reply::text("Hello.").when(when().with_tools())));
    let mut command = stage.musher(&["chat"]);
    command.env("TERM", "dumb");
    let mut terminal = crate::pty::Terminal::start(command);
    terminal.until("> ");
    terminal.type_in("hello\n");
    terminal.until("Hello.");
    terminal.until("> ");
    terminal.type_in("/quit\n");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.shown());
    assert!(!terminal.raw().contains('\u{1b}'), "{:?}", terminal.raw());
}

#[test]
fn chat_killed_in_a_turn_keeps_the_session_and_the_draft() {
    let script = Script::new().reply(Reply::text("The beginning of").and_hang().when(when().with_tools()));
    let stage = Stage::new(script);
    let mut screen = Screen::start(&stage, &["first prompt"]);
    screen.until("The beginning of");
    screen.press("meanwhile");
    let drafts = stage.home().join("chat/drafts");
    screen.until_it("the draft is on disk", |_| {
        let found = fs_err::read_dir(&drafts).ok().and_then(|mut files| files.next()).and_then(Result::ok);
        found.is_some_and(|file| fs_err::read_to_string(file.path()).is_ok_and(|text| text == "meanwhile"))
    });
    screen.terminal.signal("KILL");
    assert_eq!(screen.end(), None);
    let mut screen = Screen::start(&stage, &["--continue"]);
    screen.until("› meanwhile");
    screen.until("› first prompt");
    screen.press("\u{3}");
    screen.until_idle();
    screen.quit();
}

#[test]
fn agent_that_dies_in_a_turn_is_reported_and_the_chat_continues() {
    use std::os::unix::fs::PermissionsExt as _;

    let script = Script::new().reply(Reply::text("The beginning of").and_hang().when(when().with_tools()));
    let stage = Stage::new(script);
    let program = env!("CARGO_BIN_EXE_musher");
    let agent = stage.file("agent.sh", format!("#!/bin/sh\necho $$ > id\nexec '{program}' \"$@\"\n"));
    fs_err::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut screen = Screen::start(&stage, &["--agent", &agent, "first prompt"]);
    screen.until("The beginning of");
    let id = fs_err::read_to_string(stage.workspace().join("id")).unwrap();
    let id = rustix::process::Pid::from_raw(id.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    screen.until("! ");
    screen.until_idle();
    screen.press("typed after it");
    screen.until("› typed after it");
    screen.press("\u{3}");
    screen.until_idle();
    screen.quit();
}

#[test]
fn title_progress_and_notification_are_what_terminals_know() {
    let script = Script::new()
        .reply(Reply::text("First.").delay_ms(500, 0).when(when().with_tools().prompt("one")))
        .reply(Reply::text("Second.").when(when().with_tools()));
    let stage = Stage::new(script);
    let mut screen = Screen::start(&stage, &["one"]);
    screen.until("waiting for the model");
    screen.press("\u{1b}[O");
    screen.until("First.");
    screen.until_idle();
    let finished =
        "\u{1b}]9;the agent has finished\u{1b}\\\u{1b}]777;notify;musher;the agent has finished\u{1b}\\\u{7}";
    screen.until_it("the notification", |screen| screen.terminal.raw().contains(finished));
    screen.press("\u{1b}[I");
    screen.press("two\r");
    screen.until("Second.");
    screen.until_idle();
    screen.quit();
    let raw = screen.terminal.raw();
    let at = |text: &str| raw.find(text).unwrap_or_else(|| panic!("{text:?} is missing in {raw:?}"));
    // the indicator runs during the turn, and is off afterwards
    assert!(at("\u{1b}]0;… musher\u{1b}\\\u{1b}]9;4;3\u{1b}\\") < at("\u{1b}]9;4;0\u{1b}\\"));
    assert!(raw.rfind("\u{1b}]9;4;0") > raw.rfind("\u{1b}]9;4;3"));
    assert_eq!(raw.matches(finished).count(), 1, "only while the window has no focus");
    // the title of the window is the user's again at the end
    assert!(raw.contains("\u{1b}]0;\u{1b}\\"), "{raw:?}");
}
