//! In a real terminal: text as it comes, questions and answers, Ctrl-C, another width, no colours.

use std::process::Stdio;

use fs_err::File;
use musher_rehearse::{Reply, Script};
use serde_json::json;

use super::stage::{Stage, asks, execute, makes_a_file, step};
use crate::pty::{CTRL_C, Terminal};

#[test]
fn text_is_shown_while_the_model_writes_and_ctrl_c_stops_the_turn() {
    let script = Script::new().reply(Reply::text("The beginning").and_hang().when(step(1)));
    let stage = Stage::new(script);
    let mut terminal = stage.terminal(&["tell me"]);
    // the model sends no more than this
    terminal.until("The beginning");
    terminal.type_in(CTRL_C);
    terminal.until("stopping… press Ctrl-C again to quit immediately");
    assert_eq!(terminal.end(), Some(130), "{}", terminal.shown());
    assert!(terminal.shown().contains("error: interrupted"), "{}", terminal.shown());
}

#[test]
fn while_nothing_comes_a_line_shows_that_it_waits_and_is_gone_afterwards() {
    let slow = Reply::text("At last.").delay_ms(1500, 0).when(step(1));
    let stage = Stage::new(Script::new().reply(slow));
    let mut terminal = stage.terminal(&["tell me"]);
    terminal.until("waiting for the model 1s");
    terminal.until("At last.");
    assert_eq!(terminal.end(), Some(0));
    let shown = terminal.shown();
    assert!(!shown.contains("waiting"), "{shown}");
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[0], "At last.", "{shown}");
    assert!(lines[1].contains("tokens in") && lines[1].contains("session"), "{shown}");
    assert_eq!(lines.len(), 2, "{shown}");
}

#[test]
fn permission_is_asked_for_and_given() {
    let stage = Stage::new(makes_a_file());
    let mut terminal = stage.terminal(&["make a file"]);
    terminal.until("Run this command?");
    terminal.until("    touch made.txt");
    terminal.until("Reason given by the model: for a test");
    terminal.until("1 Yes");
    terminal.until("allow? [y/N or a number]");
    assert!(!stage.workspace().join("made.txt").exists());
    terminal.type_in("what?\n");
    terminal.until("allow? [y/N or a number]");
    terminal.type_in("y\n");
    terminal.until("✓ Execute touch made.txt");
    terminal.until("Made.");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.shown());
    assert!(stage.workspace().join("made.txt").exists());
}

#[test]
fn denied_permission_ends_it() {
    for answer in ["n\n", "\n", "\u{4}"] {
        let stage = Stage::new(makes_a_file());
        let mut terminal = stage.terminal(&["make a file"]);
        terminal.until("allow? [y/N or a number]");
        terminal.type_in(answer);
        assert_eq!(terminal.end(), Some(3), "{}", terminal.shown());
        assert!(terminal.shown().contains("error: stopped: you denied the request"), "{}", terminal.shown());
        assert!(!stage.workspace().join("made.txt").exists());
    }
}

#[test]
fn yes_typed_before_the_question_approves_nothing() {
    let slow = execute("touch made.txt").delay_ms(700, 0).when(step(1));
    let stage = Stage::new(Script::new().reply(slow).reply(Reply::text("Made.").when(step(2))));
    let mut terminal = stage.terminal(&["make a file"]);
    terminal.until("waiting for the model 0s");
    terminal.type_in("y\n");
    terminal.until("allow? [y/N or a number]");
    terminal.type_in("n\n");
    assert_eq!(terminal.end(), Some(3), "{}", terminal.shown());
    assert!(!stage.workspace().join("made.txt").exists());
}

#[test]
fn ctrl_c_at_a_question_is_a_no_and_stops_the_turn() {
    let stage = Stage::new(makes_a_file());
    let mut terminal = stage.terminal(&["make a file"]);
    terminal.until("allow? [y/N or a number]");
    terminal.type_in(CTRL_C);
    terminal.until("stopping");
    assert_eq!(terminal.end(), Some(130), "{}", terminal.shown());
    assert!(!stage.workspace().join("made.txt").exists());
}

#[test]
fn question_is_answered_by_number_or_free_text() {
    for (typed, said) in [("2\n", "blue"), ("a light green\n", "a light green")] {
        let stage = Stage::new(asks());
        let mut terminal = stage.terminal(&["ask me"]);
        terminal.until("Which colour?");
        terminal.until("  1 red");
        terminal.until("  2 blue");
        terminal.until("answer:");
        terminal.type_in(typed);
        terminal.until("As you like.");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.shown());
        assert!(stage.model_received(said));
    }
}

#[test]
fn terminal_is_asked_also_if_the_prompt_came_from_a_pipe() {
    let stage = Stage::new(makes_a_file());
    let prompt = File::open(stage.file("prompt.md", "make a file")).unwrap();
    let mut terminal = Terminal::start_with(stage.command(&[]), Some(Stdio::from(prompt.into_parts().0)));
    terminal.until("allow? [y/N or a number]");
    terminal.type_in("y\n");
    terminal.until("Made.");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.shown());
}

#[test]
fn second_ctrl_c_leaves_at_once() {
    let stage = Stage::new(Script::new());
    let agent = stage.file("agent", format!("#!/usr/bin/env python3\n{DEAF}"));
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(&agent, executable).unwrap();
    let mut terminal = stage.terminal(&["--agent", &agent, "hello"]);
    terminal.until("waiting");
    terminal.type_in(CTRL_C);
    terminal.until("stopping… press Ctrl-C again to quit immediately");
    terminal.type_in(CTRL_C);
    assert_eq!(terminal.end(), Some(130), "{}", terminal.shown());
}

/// An agent that accepts a prompt and ignores interrupts.
const DEAF: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    result = {"sessionId": "s", "session": {"messages": []}, "settings": {"modelId": "deaf"}}
    answer = {"jsonrpc": "2.0", "type": "response", "factoryApiVersion": "1.0.0", "factoryProtocolVersion": "1.76.0",
              "id": asked.get("id"), "result": result if asked.get("method") == "droid.initialize_session" else {}}
    if asked.get("method") != "droid.interrupt_session":
        print(json.dumps(answer), flush=True)
"#;

#[test]
fn lines_fit_the_width_also_after_it_has_changed() {
    let long = format!("touch {}", "x".repeat(200));
    let script = Script::new().reply(execute(&long).when(step(1))).reply(Reply::text("Done.").when(step(2)));
    let stage = Stage::new(script);
    let mut terminal = stage.terminal(&["do it"]);
    terminal.until("allow? [y/N or a number]");
    terminal.resize(40);
    terminal.type_in("y\n");
    terminal.until("Done.");
    assert_eq!(terminal.end(), Some(0));
    let shown = terminal.shown();
    let line = shown.lines().find(|line| line.starts_with("✓ Execute")).unwrap();
    assert_eq!(line.chars().count(), 40, "{line}");
}

#[test]
fn colours_can_be_switched_off() {
    let create = Reply::tool("Create", json!({"file_path": "a.txt", "content": "one\n"})).when(step(1));
    let script = || Script::new().reply(create.clone()).reply(Reply::text("Done.").when(step(2)));
    let painted = |name: &str| {
        let stage = Stage::new(script());
        let mut command = stage.command(&["make it"]);
        command.env(name, "1");
        let mut terminal = Terminal::start(command);
        terminal.until("1 + one");
        terminal.until("allow?");
        terminal.type_in("y\n");
        terminal.until("Done.");
        assert_eq!(terminal.end(), Some(0));
        terminal.raw()
    };
    let (with, without) = (painted("OTHER"), painted("NO_COLOR"));
    assert!(with.contains("\u{1b}[32m     1 + one\u{1b}[0m"), "{with}");
    assert!(!without.replace("\r\u{1b}[2K", "").contains('\u{1b}'), "{without:?}");
}

#[test]
fn answer_is_rendered_as_markdown_and_a_pipe_gets_it_as_it_is() {
    let text = "# Title\n\nSome **strong** words.\n\n- one\n";
    let script = || Script::new().reply(Reply::text(text).when(step(1)));
    let stage = Stage::new(script());
    let mut terminal = stage.terminal(&["speak"]);
    terminal.until("• one");
    assert_eq!(terminal.end(), Some(0));
    assert!(terminal.shown().starts_with("Title\n\nSome strong words.\n\n• one\n"), "{}", terminal.shown());
    let run = Stage::new(script()).run(&["speak"]);
    assert_eq!(run.stdout.trim_end(), text.trim_end());
}

#[test]
fn text_of_the_agent_cannot_control_the_terminal() {
    let stage = Stage::new(Script::new().reply(Reply::text("a\u{1b}]0;owned\u{7}b\u{1b}[2Jc").when(step(1))));
    let mut terminal = stage.terminal(&["speak"]);
    terminal.until("c\n");
    assert_eq!(terminal.end(), Some(0));
    assert!(terminal.raw().contains("a\\u{1b}]0;owned\\u{7}b\\u{1b}[2Jc"), "{:?}", terminal.raw());
}
