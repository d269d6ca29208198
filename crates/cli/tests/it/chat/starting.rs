//! The options of `musher` without a command, and of `musher chat`.

use musher_rehearse::{Reply, Script, when};

use super::screen::Screen;
use crate::run::stage::Stage;

fn answers() -> Stage {
    Stage::new(Script::new().reply(Reply::text("Understood.").when(when().with_tools())))
}

/// Has a conversation, and returns the id of its session.
fn conversation(stage: &Stage, prompt: &str) -> String {
    let mut screen = Screen::start(stage, &[prompt]);
    screen.until("Understood.");
    screen.until_idle();
    screen.quit();
    let text = screen.text();
    let (_, id) = text.rsplit_once("To continue: musher chat --session ").unwrap();
    id.trim().to_owned()
}

#[test]
fn program_without_a_command_takes_the_options_of_a_chat() {
    let stage = answers();
    let first = conversation(&stage, "the first one");
    conversation(&stage, "the second one");
    for (arguments, prompt) in [
        (&["-c"][..], "the second one"),
        (&["--continue"], "the second one"),
        (&["-s", &first], "the first one"),
        (&["--session", &first[..8]], "the first one"),
        (&["chat", "--session", &first[..8]], "the first one"),
    ] {
        let mut screen = Screen::of(stage.musher(arguments), (80, 24));
        screen.until("── resumed");
        screen.until_idle();
        assert!(screen.text().contains(&format!("› {prompt}")), "{arguments:?}\n{}", screen.text());
        screen.quit();
    }
    let mut screen = Screen::of(stage.musher(&["--auto", "high", "-m", "custom:scripted"]), (80, 24));
    screen.until_idle();
    assert!(screen.text().contains("auto high"), "{}", screen.text());
    screen.quit();
}

#[test]
fn options_of_the_chat_before_a_command_are_refused() {
    let stage = answers();
    let run = stage.run_musher(&["-m", "x", "sessions"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("cannot use options of the chat before a command"), "{}", run.stderr);
    let run = stage.run_musher(&["--continue"]);
    assert_eq!(run.code, Some(2), "without a terminal there is no chat");
    assert!(run.stderr.contains("must be a terminal"), "{}", run.stderr);
}

#[test]
fn other_agent_is_a_program() {
    let stage = answers();
    let program = env!("CARGO_BIN_EXE_musher");
    let mut screen = Screen::start(&stage, &["--agent", program, "hello"]);
    screen.until("Understood.");
    screen.until_idle();
    screen.press("again\r");
    screen.until("› again");
    screen.until_idle();
    screen.quit();
    assert!(stage.model_received("again"));
}

#[test]
fn unknown_session_is_named() {
    let stage = answers();
    let mut screen = Screen::start(&stage, &["--session", "no-such-session"]);
    assert_eq!(screen.end(), Some(2), "{}", screen.text());
    assert!(screen.text().contains("unknown session `no-such-session`"), "{}", screen.text());
}
