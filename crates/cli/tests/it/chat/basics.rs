//! Prompts, answers, the scrollback, the end.

use musher_rehearse::{Reply, Script, when};

use super::screen::Screen;
use crate::run::stage::{Stage, execute, step};

#[test]
fn prompts_are_answered_in_one_session_and_stay_in_the_scrollback() {
    let script = Script::new()
        .reply(Reply::text("The **first** answer.").when(when().with_tools().prompt("one")).times(1))
        .reply(Reply::text("The second answer.").when(when().with_tools()));
    let stage = Stage::new(script);
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    screen.press("one\r");
    screen.until("The first answer.");
    screen.until_idle();
    screen.press("two\r");
    screen.until("The second answer.");
    screen.until_idle();
    let text = screen.text();
    assert!(text.contains("› one") && text.contains("› two"), "{text}");
    // the second request has the first answer: it is the same session
    let calls = stage.calls();
    let has_both = calls.iter().filter_map(|call| call.body.as_ref()).any(|body| {
        let body = body.to_string();
        body.contains("two") && body.contains("first** answer")
    });
    assert!(has_both);
    screen.quit();
}

#[test]
fn answer_is_shown_while_it_streams_and_escape_interrupts() {
    let script = Script::new().reply(Reply::text("The beginning of").and_hang().when(step(1)));
    let stage = Stage::new(script);
    let mut screen = Screen::start(&stage, &["tell me"]);
    screen.until("The beginning of");
    screen.press("\u{1b}");
    screen.until("interrupted");
    screen.until_idle();
    screen.quit();
}

#[test]
fn without_a_model_it_says_how_to_get_one_and_offers_scripted_replies() {
    let stage = Stage::new(Script::new());
    fs_err::write(stage.home().join("settings.json"), "{}").unwrap();
    let mut screen = Screen::of(stage.musher(&[]), (80, 24));
    screen.until("No model is set up.");
    screen.until("ANTHROPIC_API_KEY");
    screen.press("\r");
    screen.until_idle();
    assert!(screen.text().contains("rehearsal"), "{}", screen.text());
    screen.press("hello\r");
    screen.until("tokens in");
    screen.until_idle();
    screen.quit();
}

#[test]
fn prompts_wait_for_the_end_of_the_turn() {
    let script = Script::new()
        .reply(Reply::text("First.").delay_ms(800, 0).when(when().with_tools().prompt("one")))
        .reply(Reply::text("Second.").when(when().with_tools().prompt("two")));
    let stage = Stage::new(script);
    let mut screen = Screen::start(&stage, &["one"]);
    screen.until("waiting for the model");
    screen.press("two\r");
    screen.until("waits: two");
    screen.until("Second.");
    screen.until_idle();
    let text = screen.text();
    assert!(text.find("First.") < text.find("› two"), "{text}");
    screen.quit();
}

#[test]
fn going_back_edits_an_earlier_prompt_and_restores_the_files() {
    let create = Reply::tool("Create", serde_json::json!({"file_path": "new.txt", "content": "one\n"}));
    let script = Script::new()
        .reply(create.when(when().with_tools().prompt("make it").call(1)))
        .reply(Reply::text("Understood.").when(when().with_tools()));
    let stage = Stage::new(script);
    let mut screen = Screen::start(&stage, &["--auto", "high", "make it"]);
    screen.until("Understood.");
    screen.until_idle();
    assert!(stage.workspace().join("new.txt").exists());
    screen.press("\u{1b}");
    screen.until("press Esc again");
    screen.press("\u{1b}");
    screen.until("Edit the prompt:");
    screen.press("\r");
    screen.until("Restore the files, too");
    screen.press("\u{1b}[B\r");
    screen.until("back before that prompt");
    screen.until("› make it");
    assert!(!stage.workspace().join("new.txt").exists());
    screen.press("\u{3}");
    screen.until_idle();
    screen.quit();
}

#[test]
fn waiting_prompt_joins_the_turn_without_an_interruption() {
    let script = Script::new()
        .reply(execute("sleep 1").delay_ms(300, 0).when(when().with_tools().prompt("one").call(1)))
        .reply(Reply::text("Both read.").when(when().with_tools()));
    let stage = Stage::new(script);
    let mut screen = Screen::start(&stage, &["--auto", "high", "one"]);
    screen.until("waiting for the model");
    screen.press("and two as well\u{1b}s");
    screen.until("sent: and two as well");
    screen.until("Both read.");
    screen.until_idle();
    let text = screen.text();
    assert!(text.find("✓ Execute sleep 1") < text.find("› and two as well"), "{text}");
    assert!(!text.contains("interrupted") && !text.contains("sent:"), "{text}");
    // one turn: its second request has both
    assert_eq!(text.matches("tokens in").count(), 1, "{text}");
    assert!(stage.model_received("and two as well"));
    screen.quit();
}
