//! Permission requests and questions, answered with keys.

use musher_rehearse::{Reply, Script};
use serde_json::json;

use super::screen::{ARMED, Screen};
use crate::run::stage::{Stage, asks, execute, makes_a_file, step};

#[test]
fn command_runs_after_yes() {
    let stage = Stage::new(makes_a_file());
    let mut screen = Screen::start(&stage, &["make a file"]);
    screen.until(ARMED);
    let text = screen.text();
    for part in ["Run this command?", "touch made.txt", "Risk: low", "Reason given by the model: for a test"]
    {
        assert!(text.contains(part), "{text}");
    }
    assert!(!stage.workspace().join("made.txt").exists());
    screen.press("y");
    screen.until("✓ Execute touch made.txt");
    screen.until("Made.");
    screen.until_idle();
    assert!(stage.workspace().join("made.txt").exists());
    screen.quit();
}

#[test]
fn denial_with_a_reason_goes_to_the_model_and_the_turn_continues() {
    let stage = Stage::new(makes_a_file());
    let mut screen = Screen::start(&stage, &["make a file"]);
    screen.until(ARMED);
    screen.press("n");
    screen.until("why not:");
    screen.press("use another name\r");
    screen.until("Made.");
    screen.until_idle();
    assert!(!stage.workspace().join("made.txt").exists());
    assert!(stage.model_received("The user denied this call: use another name"));
    screen.quit();
}

#[test]
fn keys_typed_ahead_are_text_and_no_answer() {
    let slow = execute("touch made.txt").delay_ms(700, 0).when(step(1));
    let stage = Stage::new(Script::new().reply(slow).reply(Reply::text("Made.").when(step(2))));
    let mut screen = Screen::start(&stage, &["make a file"]);
    screen.until("waiting for the model");
    screen.press("y\u{1b}[A");
    screen.press("yy");
    screen.until(ARMED);
    assert!(screen.text().contains("› yyy"), "{}", screen.text());
    assert!(!stage.workspace().join("made.txt").exists());
    screen.press("d");
    screen.until("denied");
    assert!(!stage.workspace().join("made.txt").exists());
}

#[test]
fn command_is_changed_before_it_runs() {
    let stage = Stage::new(makes_a_file());
    let mut command = stage.musher(&["chat", "make a file"]);
    command.env("EDITOR", "sed -i s/made/other/");
    let mut screen = Screen::of(command, (80, 24));
    screen.until(ARMED);
    screen.press("e");
    screen.until("✓ Execute touch other.txt");
    screen.until("Made.");
    screen.until_idle();
    assert!(stage.workspace().join("other.txt").exists() && !stage.workspace().join("made.txt").exists());
    assert!(stage.model_received("The user changed the input of this call"));
    screen.quit();
}

#[test]
fn commands_that_begin_so_are_allowed_for_the_chat() {
    let script = Script::new()
        .reply(execute("touch one.txt").when(step(1)))
        .reply(execute("touch two.txt").when(step(2)))
        .reply(execute("rm one.txt").when(step(3)))
        .reply(Reply::text("Done.").when(step(4)));
    let stage = Stage::new(script);
    let mut screen = Screen::start(&stage, &["make files"]);
    screen.until(ARMED);
    screen.press("p");
    screen.until("✓ Execute touch two.txt");
    screen.until("rm one.txt");
    screen.until(ARMED);
    screen.press("d");
    screen.until("denied");
    assert!(stage.workspace().join("two.txt").exists() && stage.workspace().join("one.txt").exists());
}

#[test]
fn question_is_answered_by_number_or_in_words() {
    for (keys, said) in
        [(&["2"][..], "blue"), (&["\u{1b}[A", "\r"], "red"), (&["o", "a light green\r"], "a light green")]
    {
        let stage = Stage::new(asks());
        let mut screen = Screen::start(&stage, &["ask me"]);
        screen.until(ARMED);
        assert!(screen.text().contains("Which colour?"), "{}", screen.text());
        for (index, key) in keys.iter().enumerate() {
            if index > 0 && said != "red" {
                screen.until("answer:");
            }
            screen.press(if said == "red" && index == 0 { "\u{1b}[B\u{1b}[A" } else { key });
        }
        screen.until("As you like.");
        assert!(stage.model_received(said));
    }
}

#[test]
fn plan_is_shown_as_markdown_and_approved() {
    let plan = json!({"plan": "# The plan\n\n1. Look\n2. Write", "title": "The plan"});
    let script = Script::new()
        .reply(Reply::tool("ExitSpecMode", plan).when(step(1)))
        .reply(Reply::text("Carried out.").when(step(2)));
    let stage = Stage::new(script);
    let mut screen = Screen::start(&stage, &["--plan", "plan it"]);
    screen.until(ARMED);
    let text = screen.text();
    assert!(text.contains("Carry out this plan?") && text.contains("1. Look"), "{text}");
    screen.press("y");
    screen.until("Carried out.");
    screen.until_idle();
    screen.quit();
}

#[test]
fn escape_at_a_request_stops_the_turn() {
    let stage = Stage::new(makes_a_file());
    let mut screen = Screen::start(&stage, &["make a file"]);
    screen.until(ARMED);
    screen.press("\u{1b}");
    screen.until("interrupted");
    screen.until_idle();
    assert!(!stage.workspace().join("made.txt").exists());
    screen.quit();
}

/// The model asks this, slowly, so that keys can be typed before.
fn asks_slowly(questionnaire: &str) -> Stage {
    let reply = Reply::tool("AskUser", json!({"questionnaire": questionnaire})).delay_ms(700, 0);
    Stage::new(Script::new().reply(reply.when(step(1))).reply(Reply::text("As you like.").when(step(2))))
}

#[test]
fn text_typed_ahead_does_not_answer_a_question_in_words() {
    let stage = asks_slowly("1. [question] Which name?\n[topic] Name\n");
    let mut screen = Screen::start(&stage, &["ask me"]);
    screen.until("waiting for the model");
    screen.press("typed");
    screen.until("› typed");
    screen.press(" ahead");
    screen.until("Which name?");
    // no pause for a user who goes on typing
    screen.press(" and on");
    screen.until("answer:");
    screen.press("Ada\r");
    screen.until("As you like.");
    screen.until("› typed ahead and on");
    assert!(stage.model_received("[answer] Ada") && !stage.model_received("typed ahead"));
    screen.press("\u{3}");
    screen.until_idle();
    screen.quit();
}

#[test]
fn key_pressed_twice_answers_one_question() {
    let questions = "1. [question] Which colour?\n[topic] Colour\n[option] red\n[option] blue\n\
                     2. [question] Which size?\n[topic] Size\n[option] large\n[option] small\n";
    let stage = asks_slowly(questions);
    let mut screen = Screen::start(&stage, &["ask me"]);
    screen.until(ARMED);
    screen.press("22");
    screen.until("Which size? (2 of 2)");
    screen.until(ARMED);
    assert!(screen.text().contains("› 2"), "the second one is text of the prompt\n{}", screen.text());
    screen.press("1");
    screen.until("As you like.");
    assert!(stage.model_received("[answer] blue") && stage.model_received("[answer] large"));
    screen.press("\u{3}");
    screen.until_idle();
    screen.quit();
}
