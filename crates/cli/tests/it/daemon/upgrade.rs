//! An upgrade: the program is replaced, and clients see a reconnect at most.

use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script, when};

use super::stage::{Stage, script, text_of};
use crate::program::ended;

/// Asks for an upgrade and waits until it is done.
async fn upgrade(stage: &mut Stage) {
    let (before, address) = (stage.id(), stage.address.clone());
    let mut command = crate::program::command(&["daemon", "--upgrade"]);
    command.env("HOME", stage.home.path());
    let run = tokio::task::spawn_blocking(|| ended(command)).await.unwrap();
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), "upgraded\n"));
    assert_eq!(stage.listening_again(), address, "the address stays");
    assert_eq!(stage.id(), before, "the process stays");
}

#[tokio::test]
async fn sessions_requests_and_queued_prompts_survive_an_upgrade() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let (idle, waiting) = (client.open().await, client.open().await);
    client.turn(&idle, "say hello").await;
    client.request("daemon.add_user_message", json!({"sessionId": waiting, "text": "touch it"})).await;
    let asked = client.until(&json!({"method": "daemon.request_permission"})).await;
    let queued = json!({"sessionId": waiting, "text": "queued", "messageId": "queued-1"});
    client.call("daemon.add_user_message", queued).await;
    upgrade(&mut stage).await;
    // twice: the second program has kept everything from the first
    upgrade(&mut stage).await;

    let mut client = stage.client().await;
    client.load(&idle, None).await;
    assert_eq!(text_of(&client.turn(&idle, "again").await), "Hello.");
    let loaded = client.load(&waiting, None).await;
    assert_eq!(loaded["pendingPermissions"][0]["requestId"], asked["id"], "{loaded}");
    client.answer(&asked, json!({"sessionId": waiting, "selectedOption": "proceed_once"})).await;
    let completed =
        json!({"params": {"notification": {"type": "agent_turn_completed", "turnId": "queued-1"}}});
    client.until(&completed).await;
    assert!(stage.work().join("made.txt").exists());
    stage.stop();
}

#[tokio::test]
async fn turn_that_runs_ends_before_the_upgrade_and_later_prompts_run_after_it() {
    let slow =
        Reply::text("Slow").and_wait_ms(1000).and_text(" answer.").when(when().with_tools().prompt("slow"));
    let script = Script::new().reply(Reply::text("A title").when(when().without_tools())).reply(slow);
    let mut stage = Stage::with(script.otherwise(Reply::text("Hello.")), &[]);
    let mut client = stage.client().await;
    let (one, two) = (client.open().await, client.open().await);
    client
        .request("daemon.add_user_message", json!({"sessionId": one, "text": "slow", "messageId": "slow-1"}))
        .await;
    client.until(&json!({"params": {"notification": {"type": "assistant_text_delta"}}})).await;
    upgrade(&mut stage).await;
    let mut client = stage.client().await;
    client.load(&one, Some(0)).await;
    let end = client.until(&json!({"params": {"notification": {"type": "agent_turn_completed"}}})).await;
    assert_eq!(end["params"]["notification"]["reason"], "completed", "{end}");
    let messages: Value = client.call("daemon.get_session_messages", json!({"sessionId": one})).await;
    assert!(messages.to_string().contains("Slow answer."), "{messages}");
    client.load(&two, None).await;
    assert_eq!(text_of(&client.turn(&two, "say hello").await), "Hello.");
    stage.stop();
}

#[tokio::test]
async fn upgrade_without_a_daemon_is_an_error() {
    let mut stage = Stage::with(script(), &[]);
    stage.stop();
    let mut command = crate::program::command(&["daemon", "--upgrade"]);
    command.env("HOME", stage.home.path());
    let run = tokio::task::spawn_blocking(|| ended(command)).await.unwrap();
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("no daemon runs"), "{}", run.stderr);
}
