//! Permission requests and questions, answered with keys.

use musher_rehearse::{Reply, Script, when};
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
        .reply(execute("git init -q one").when(step(1)))
        .reply(execute("git init -q two").when(step(2)))
        .reply(execute("rm -r one").when(step(3)))
        .reply(Reply::text("Done.").when(step(4)));
    let stage = Stage::new(script);
    let mut screen = Screen::start(&stage, &["make files"]);
    screen.until(ARMED);
    screen.press("p");
    screen.until("✓ Execute git init -q two");
    screen.until("rm -r one");
    screen.until(ARMED);
    screen.press("d");
    screen.until("denied");
    assert!(stage.workspace().join("two/.git").exists() && stage.workspace().join("one/.git").exists());
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
    // no pause for a user who continues typing
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

/// The model wants two subagents, each of which wants to run a command.
fn two_requests() -> Stage {
    let task = |name: &str| json!({"subagent_type": "worker", "description": format!("Do {name}"), "prompt": format!("touch {name}.txt")});
    let touch = |name: &str| {
        execute(&format!("touch {name}.txt"))
            .when(when().with_tools().prompt(format!("touch {name}.txt").as_str()).call(1))
    };
    Stage::new(
        Script::new()
            .reply(
                Reply::tool("Task", task("one"))
                    .and_tool("Task", task("two"))
                    .when(when().with_tools().prompt("both").call(1)),
            )
            .reply(touch("one"))
            .reply(touch("two"))
            .reply(Reply::text("Done.").when(when().with_tools())),
    )
}

#[test]
fn several_requests_are_a_list_to_choose_from() {
    let stage = two_requests();
    let mut screen = Screen::sized(&stage, &["both"], (100, 40));
    screen.until("2 requests wait for you");
    screen.until(ARMED);
    let rows = screen.rows();
    let first = rows.iter().find(|row| row.starts_with("› 1 ")).unwrap().clone();
    let second = rows.iter().find(|row| row.starts_with("  2 ")).unwrap().clone();
    let name = |row: &str| if row.contains("one.txt") { "one.txt" } else { "two.txt" };
    assert_ne!(name(&first), name(&second), "{rows:?}");
    for (key, open) in [("\t", "› 2 "), ("\t", "› 1 "), ("2", "› 2 "), ("\u{1b}[Z", "› 1 "), ("2", "› 2 ")]
    {
        screen.press(key);
        screen.until(open);
        screen.until(ARMED);
    }
    // the second one is answered, and the first one is still there
    screen.press("y");
    screen.until_gone("requests wait for you");
    screen.until(ARMED);
    assert!(!stage.workspace().join(name(&first)).exists());
    screen.press("y");
    screen.until("✓ Task Do one");
    screen.until("✓ Task Do two");
    screen.until_idle();
    for row in [first, second] {
        assert!(stage.workspace().join(name(&row)).exists(), "{row}");
    }
    screen.quit();
}

/// The model makes these changes of `sum.py`, one after the other.
fn edits(changes: &[(&str, &str)]) -> Stage {
    let mut script = Script::new();
    for (index, (old, new)) in changes.iter().enumerate() {
        let edit = json!({"file_path": "sum.py", "old_str": old, "new_str": new});
        script = script.reply(Reply::tool("Edit", edit).when(step(u32::try_from(index).unwrap() + 1)));
    }
    let last = u32::try_from(changes.len()).unwrap() + 1;
    let stage = Stage::new(script.reply(Reply::text("Changed.").when(step(last))));
    fs_err::write(stage.workspace().join("sum.py"), "price = 1\ncount = 2\n").unwrap();
    stage
}

fn content(stage: &Stage) -> String {
    fs_err::read_to_string(stage.workspace().join("sum.py")).unwrap()
}

#[test]
fn whole_request_is_shown_in_the_pager_and_stays_open() {
    let lines: Vec<String> = (0..300).map(|number| format!("line number {number}\n")).collect();
    let content = lines.concat();
    let create = Reply::tool("Create", json!({"file_path": "long.txt", "content": content}));
    let stage = Stage::new(Script::new().reply(create.when(step(1))));
    let mut command = stage.musher(&["chat", "make it"]);
    command.env("PAGER", "sh -c 'cat \"$1\" > seen.txt' pager");
    let mut screen = Screen::of(command, (80, 24));
    screen.until(ARMED);
    screen.press("v");
    let seen = stage.workspace().join("seen.txt");
    screen.until_it("the pager", |_| {
        fs_err::read_to_string(&seen).is_ok_and(|text| text.contains("line number 299"))
    });
    let seen = fs_err::read_to_string(&seen).unwrap();
    assert!((0..300).all(|number| seen.contains(&format!("line number {number}"))), "{seen}");
    screen.until(ARMED);
    screen.press("d");
    screen.until("denied");
    screen.until_idle();
    assert!(!stage.workspace().join("long.txt").exists());
    screen.quit();
}

#[test]
fn plan_is_commented_by_line_or_edited() {
    for (key, editor, expected) in [
        ("c", "sed -i '/1. Look/a %% look twice'", "- On `1. Look`: look twice"),
        ("e", "sed -i s/Write/Rewrite/", "2. Rewrite"),
    ] {
        let plan = json!({"plan": "# The plan\n\n1. Look\n2. Write", "title": "The plan"});
        let script = Script::new()
            .reply(Reply::tool("ExitSpecMode", plan).when(step(1)))
            .reply(Reply::text("Understood.").when(when().with_tools()));
        let stage = Stage::new(script);
        let mut command = stage.musher(&["chat", "--use-spec", "plan it"]);
        command.env("EDITOR", editor);
        let mut screen = Screen::of(command, (80, 24));
        screen.until(ARMED);
        screen.press(key);
        screen.until("Understood.");
        screen.until_idle();
        assert!(stage.model_received(expected), "{key}\n{}", screen.text());
        screen.quit();
    }
}

#[test]
fn change_of_a_file_is_edited_before_it_is_made() {
    let stage = edits(&[("price = 1", "price = 10")]);
    let mut command = stage.musher(&["chat", "change it"]);
    command.env("EDITOR", "sed -i s/10/42/");
    let mut screen = Screen::of(command, (80, 24));
    screen.until(ARMED);
    screen.press("e");
    screen.until("Changed.");
    screen.until_idle();
    assert_eq!(content(&stage), "price = 42\ncount = 2\n");
    screen.quit();
}

#[test]
fn later_changes_are_allowed_by_directory_and_by_risk() {
    for key in ["f", "a"] {
        let stage = edits(&[("price = 1", "price = 10"), ("count = 2", "count = 20")]);
        let mut screen = Screen::start(&stage, &["change it"]);
        screen.until(ARMED);
        screen.press(key);
        // the second one is not asked for
        screen.until("Changed.");
        screen.until_idle();
        assert_eq!(content(&stage), "price = 10\ncount = 20\n", "{key}\n{}", screen.text());
        screen.quit();
    }
}
