//! A chat in a session of a daemon: leaving stops nothing, and what other clients do is seen.

use std::process::Command;

use serde_json::Value;
use testkit::rehearse::{Reply, Script, when};

use super::screen::{ARMED, Screen};
use crate::daemon::stage::Stage;
use crate::program::{command, ended};

fn script() -> Script {
    let touch = serde_json::json!({
        "command": "touch made.txt", "summary": "Do it", "riskLevel": "medium", "riskLevelReason": "for a test",
    });
    Script::new()
        .reply(Reply::tool("Execute", touch).when(when().with_tools().prompt("touch it").call(1)))
        .reply(Reply::text("Made.").when(when().with_tools().prompt("touch it")))
        .reply(Reply::text("Hello.").when(when().with_tools()))
        .otherwise(Reply::text("A title"))
}

fn musher(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = command(arguments);
    command.current_dir(stage.work()).env("HOME", stage.home.path());
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("NO_PROXY", "127.0.0.1");
    command.env("MUSHER_DAEMON_URL", &stage.address).env("TERM", "xterm-256color");
    command
}

// the model of the stage runs beside the chat, which this thread waits for
#[tokio::test(flavor = "multi_thread")]
async fn request_stays_open_when_the_chat_is_left_and_is_answered_after_it_is_attached() {
    let mut stage = Stage::with(script(), &[]);
    let mut screen = Screen::of(musher(&stage, &["chat", "--daemon", "touch it"]), (100, 30));
    screen.until(ARMED);
    screen.quit();
    let text = screen.text();
    let (_, id) = text.rsplit_once("To continue: musher attach ").unwrap();
    let id = id.trim().to_owned();
    let inbox = ended(musher(&stage, &["inbox", "--json"]));
    let inbox: Value = serde_json::from_str(&inbox.stdout).unwrap();
    assert_eq!(inbox[0]["session"], Value::from(id.as_str()), "{inbox}");
    assert!(!stage.work().join("made.txt").exists());

    let mut screen = Screen::of(musher(&stage, &["attach", &id]), (100, 30));
    screen.until("› touch it");
    screen.until(ARMED);
    screen.press("y");
    screen.until("Made.");
    screen.until_idle();
    assert!(stage.work().join("made.txt").exists());
    screen.press("and hello\r");
    screen.until("Hello.");
    screen.until_idle();
    screen.quit();
    stage.stop();
}

// the model of the stage runs beside the chat, which this thread waits for
#[tokio::test(flavor = "multi_thread")]
async fn turn_of_another_client_is_seen_with_its_prompt() {
    let mut stage = Stage::with(script(), &[]);
    let mut screen = Screen::of(musher(&stage, &["chat", "--daemon", "the first prompt"]), (100, 30));
    screen.until("Hello.");
    screen.until_idle();
    let list = ended(musher(&stage, &["sessions", "--json"]));
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let id = list[0]["id"].as_str().unwrap().to_owned();
    let run = ended(musher(&stage, &["run", "--daemon", "--detach", "--session", &id, "touch it"]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    screen.until("› touch it");
    screen.until(ARMED);
    screen.press("y");
    screen.until("Made.");
    screen.until_idle();
    assert!(stage.work().join("made.txt").exists());
    let prompts = screen.all_rows().iter().filter(|row| row.contains("› touch it")).count();
    assert_eq!(prompts, 1, "{}", screen.text());
    screen.quit();
    stage.stop();
}
