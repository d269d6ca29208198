//! Turns and questions across the death of a daemon: nothing that had started runs again, and a person answers once.

use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script, when};

use super::stage::{Client, Stage, text_of};

/// A model that stops in the middle of its first answer to `hang`, and answers when it is asked again.
pub(super) fn hanging() -> Script {
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text("Half").and_hang().when(when().with_tools().prompt("hang").call(1)).times(1))
        .otherwise(Reply::text("Continued."))
}

fn completed(reason: &str) -> Value {
    json!({"params": {"notification": {"type": "agent_turn_completed", "reason": reason}}})
}

/// Runs a turn up to a permission request, and kills the daemon.
async fn killed_with_a_question(stage: &mut Stage) -> (String, Value) {
    let mut client = stage.client().await;
    let session = client.open().await;
    let prompt = json!({"sessionId": session, "text": "touch it", "messageId": "prompt-1"});
    client.request("daemon.add_user_message", prompt).await;
    let asked = client.until(&json!({"method": "daemon.request_permission"})).await;
    stage.kill();
    stage.start();
    (session, asked["id"].clone())
}

/// Waits for the real end of the turn. Returns the text of the model.
async fn until_completed(client: &mut Client) -> String {
    let mut messages = Vec::new();
    loop {
        let message = client.next().await;
        let is_end = super::stage::has(&message, &completed("completed"));
        messages.push(message);
        if is_end {
            let end = &messages[messages.len() - 1]["params"]["notification"];
            assert_eq!(end["turnId"], "prompt-1", "{end}");
            return text_of(&messages);
        }
    }
}

#[tokio::test]
async fn answer_to_a_request_of_a_killed_daemon_continues_the_turn() {
    let mut stage = Stage::new();
    let (session, id) = killed_with_a_question(&mut stage).await;
    let mut client = stage.client().await;
    let listed = client.call("daemon.list_inbox", json!({})).await;
    assert_eq!(listed["items"][0]["requestId"], id, "{listed}");
    assert_eq!(listed["items"][0]["request"]["toolUses"][0]["toolUse"]["name"], "Execute", "{listed}");
    assert!(!stage.work().join("made.txt").exists());
    let answer = json!({"requestId": id, "result": {"selectedOption": "proceed_once"}});
    assert_eq!(client.call("daemon.answer_inbox", answer.clone()).await, json!({"accepted": true}));
    assert_eq!(client.call("daemon.answer_inbox", answer).await, json!({"accepted": false}));
    client.load(&session, Some(0)).await;
    assert_eq!(until_completed(&mut client).await, "Touched.");
    assert!(stage.work().join("made.txt").exists());
    assert_eq!(client.call("daemon.list_inbox", json!({})).await, json!({"items": []}));
    stage.stop();
}

#[tokio::test]
async fn client_that_loads_the_session_gets_the_request_of_a_killed_daemon_with_its_id() {
    let mut stage = Stage::new();
    let (session, id) = killed_with_a_question(&mut stage).await;
    // once more: it waits until there is an answer
    stage.kill();
    stage.start();
    let mut client = stage.client().await;
    let loaded = client.load(&session, Some(0)).await;
    assert_eq!(loaded["pendingPermissions"][0]["requestId"], id, "{loaded}");
    let asked = client.until(&json!({"method": "daemon.request_permission"})).await;
    assert_eq!(asked["id"], id, "{asked}");
    client.answer(&asked, json!({"sessionId": session, "selectedOption": "proceed_once"})).await;
    let resolved = json!({"params": {"notification": {"type": "permission_resolved", "requestId": id}}});
    client.until(&resolved).await;
    until_completed(&mut client).await;
    assert!(stage.work().join("made.txt").exists());
    stage.stop();
}

#[tokio::test]
async fn denied_request_of_a_killed_daemon_runs_nothing() {
    let mut stage = Stage::new();
    let (session, id) = killed_with_a_question(&mut stage).await;
    let mut client = stage.client().await;
    let answer = json!({"requestId": id, "result": {"selectedOption": "cancel"}});
    assert_eq!(client.call("daemon.answer_inbox", answer).await, json!({"accepted": true}));
    client.load(&session, Some(0)).await;
    loop {
        let end = client.until(&json!({"params": {"notification": {"type": "agent_turn_completed"}}})).await;
        if end["params"]["notification"]["reason"] != "process_exit" {
            break;
        }
    }
    assert!(!stage.work().join("made.txt").exists());
    stage.stop();
}

#[tokio::test]
async fn turn_continues_by_itself_if_the_daemon_is_to_resume_turns() {
    let mut stage = Stage::with(hanging(), &["--resume-turns"]);
    let mut client = stage.client().await;
    let session = client.open().await;
    let prompt = json!({"sessionId": session, "text": "hang", "messageId": "prompt-1"});
    client.request("daemon.add_user_message", prompt).await;
    client.until(&json!({"params": {"notification": {"type": "assistant_text_delta"}}})).await;
    stage.kill();
    stage.start();
    // no client is needed for that
    let mut client = stage.client().await;
    client.load(&session, Some(0)).await;
    client.until(&completed("process_exit")).await;
    assert_eq!(until_completed(&mut client).await, "Continued.");
    stage.stop();
    stage.start();
    // a turn that is over does not continue
    let mut client = stage.client().await;
    let messages =
        client.call("daemon.get_session_messages", json!({"sessionId": session})).await.to_string();
    assert_eq!(messages.matches("Continued.").count(), 1, "{messages}");
    stage.stop();
}

#[tokio::test]
async fn call_that_had_started_is_not_repeated_and_its_result_says_so() {
    let command = "echo ran >> runs.txt; echo started > started.pipe; cat block.pipe";
    let run = json!({
        "command": command, "summary": "Run for long", "timeout": 600,
        "riskLevel": "medium", "riskLevelReason": "it writes a file",
    });
    let script = Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::tool("Execute", run).when(when().prompt("run it").call(1)).times(1))
        .otherwise(Reply::text("Checked."));
    let mut stage = Stage::with(script, &["--resume-turns"]);
    for name in ["started.pipe", "block.pipe"] {
        let path = stage.work().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    }
    let mut client = stage.client().await;
    let session = client.open().await;
    let prompt = json!({"sessionId": session, "text": "run it", "messageId": "prompt-1"});
    client.request("daemon.add_user_message", prompt).await;
    let asked = client.until(&json!({"method": "daemon.request_permission"})).await;
    client.answer(&asked, json!({"sessionId": session, "selectedOption": "proceed_once"})).await;
    let started = stage.work().join("started.pipe");
    tokio::task::spawn_blocking(move || fs_err::read_to_string(started)).await.unwrap().unwrap();
    stage.kill();
    stage.start();
    let mut client = stage.client().await;
    client.load(&session, Some(0)).await;
    client.until(&completed("process_exit")).await;
    assert_eq!(until_completed(&mut client).await, "Checked.");
    assert_eq!(fs_err::read_to_string(stage.work().join("runs.txt")).unwrap(), "ran\n");
    let messages =
        client.call("daemon.get_session_messages", json!({"sessionId": session})).await.to_string();
    assert!(messages.contains("Tool execution interrupted"), "{messages}");
    stage.stop();
}
