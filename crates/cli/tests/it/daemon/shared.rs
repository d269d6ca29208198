//! One session in the daemon and in a command: an idle session that the daemon has open is free for others.

use musher_rehearse::{Hang, Reply, Script, when};
use serde_json::json;

use super::stage::{Stage, text_of};
use crate::program::{Run, command, ended};

/// Runs `musher run` in the home of the daemon.
async fn run(stage: &Stage, arguments: &[&str]) -> Run {
    let mut command = command(&["run"]);
    command.args(arguments).env("HOME", stage.home.path()).env("PATH", std::env::var_os("PATH").unwrap());
    command.env("NO_PROXY", "127.0.0.1").current_dir(stage.work());
    // the model is served by this thread
    tokio::task::spawn_blocking(|| ended(command)).await.unwrap()
}

fn script() -> Script {
    let on = |prompt: &str| when().with_tools().prompt(prompt);
    Script::new()
        .reply(Reply::text("Fourth.").when(on("fourth")))
        .reply(Reply::text("Third.").when(on("third")))
        .reply(Reply::text("Second.").when(on("second")))
        .reply(Reply::hang(Hang::AfterHeaders).when(on("never ends")))
        .reply(Reply::text("First.").when(on("first")))
        .otherwise(Reply::text("A title"))
}

#[tokio::test]
async fn idle_session_of_the_daemon_is_continued_by_run_and_then_by_the_daemon() {
    let mut stage = Stage::with(script(), &[]);
    let mut client = stage.client().await;
    let session = client.open().await;
    assert_eq!(text_of(&client.turn(&session, "first").await), "First.");
    let second = run(&stage, &["--session", &session, "second"]).await;
    assert_eq!((second.code, second.stdout.as_str()), (Some(0), "Second.\n"), "{}", second.stderr);
    assert!(stage.asked_last("second").contains("First."), "it continues what the daemon wrote");
    assert_eq!(text_of(&client.turn(&session, "third").await), "Third.");
    let third = stage.asked_last("third");
    assert!(
        third.contains("first") && third.contains("Second."),
        "it continues what the command wrote: {third}"
    );

    // a session that a command began
    let fourth = run(&stage, &["fourth"]).await;
    assert_eq!(fourth.code, Some(0), "{}", fourth.stderr);
    let other = fourth.stderr.trim_end().rsplit(' ').next().unwrap().to_owned();
    client.load(&other, None).await;
    assert_eq!(text_of(&client.turn(&other, "second").await), "Second.");
    let again = run(&stage, &["--session", &other, "third"]).await;
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), "Third.\n"), "{}", again.stderr);
    assert!(stage.asked_last("third").contains("Second."), "it continues what the daemon wrote");
    stage.stop();
}

#[tokio::test]
async fn prompt_during_a_turn_of_the_daemon_is_refused_with_its_process() {
    let mut stage = Stage::with(script(), &[]);
    let mut client = stage.client().await;
    let session = client.open().await;
    client.turn(&session, "first").await;
    client.call("daemon.add_user_message", json!({"sessionId": session, "text": "this never ends"})).await;
    let running = json!({"params": {"notification": {"type": "droid_working_state_changed"}}});
    client.until(&running).await;
    let refused = run(&stage, &["--session", &session, "second"]).await;
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{}", refused.stderr);
    let expected = format!("running in process {}", stage.id());
    assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
    client.call("daemon.interrupt_session", json!({"sessionId": session})).await;
    client.until_idle(&session).await;
    let second = run(&stage, &["--session", &session, "second"]).await;
    assert_eq!((second.code, second.stdout.as_str()), (Some(0), "Second.\n"), "{}", second.stderr);
    stage.stop();
}
