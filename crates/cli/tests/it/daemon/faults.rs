//! One fault, one session: killed daemons, dead workers, signals.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::stage::{Stage, script, text_of};

#[tokio::test]
async fn turn_that_a_killed_daemon_ran_is_reported_and_the_session_is_not_busy() {
    let mut stage = Stage::with(super::resume::hanging(), &[]);
    let mut client = stage.client().await;
    let session = client.open().await;
    client.request("daemon.add_user_message", json!({"sessionId": session, "text": "hang"})).await;
    client.until(&json!({"params": {"notification": {"type": "assistant_text_delta"}}})).await;
    stage.kill();
    stage.start();

    let mut client = stage.client().await;
    let loaded = client.load(&session, Some(0)).await;
    assert_eq!(
        (&loaded["workingState"], &loaded["isAgentLoopInProgress"]),
        (&json!("idle"), &json!(false)),
        "{loaded}"
    );
    let messages = client.until_idle(&session).await;
    let completed =
        messages.iter().find(|it| it["params"]["notification"]["type"] == "agent_turn_completed").unwrap();
    assert_eq!(completed["params"]["notification"]["reason"], "process_exit", "{completed}");
    let opened = client.call("daemon.list_opened_sessions", json!({})).await;
    assert_eq!(opened["sessions"][0]["workingState"], "idle", "{opened}");
    assert!(!text_of(&client.turn(&session, "go on").await).is_empty());
    stage.stop();
}

#[tokio::test]
async fn signal_interrupts_turns_and_they_are_over_when_the_daemon_is_back() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    client.request("daemon.add_user_message", json!({"sessionId": session, "text": "touch it"})).await;
    client.until(&json!({"method": "daemon.request_permission"})).await;
    stage.stop();
    stage.start();
    let mut client = stage.client().await;
    client.load(&session, Some(0)).await;
    let messages = client.until_idle(&session).await;
    let completed =
        messages.iter().find(|it| it["params"]["notification"]["type"] == "agent_turn_completed").unwrap();
    assert_eq!(completed["params"]["notification"]["reason"], "cancelled", "{completed}");
    assert_eq!(client.call("daemon.list_inbox", json!({})).await, json!({"items": []}));
    stage.stop();
}

/// A worker that answers like an agent, and dies when a prompt says so.
const WORKER: &str = r#"#!/bin/sh
while read -r line; do
  id=${line#*'"id":"'}; id=${id%%'"'*}
  session=${line#*'"sessionId":"'}; session=${session%%'"'*}
  ok() { echo '{"jsonrpc":"2.0","type":"response","factoryApiVersion":"1.0.0","id":"'"$id"'","result":'"$1"'}'; }
  say() { echo '{"jsonrpc":"2.0","type":"notification","factoryApiVersion":"1.0.0","method":"droid.session_notification","params":{"notification":'"$1"'}}'; }
  case "$line" in
    *initialize_session*) ok '{"sessionId":"'"$session"'","session":{"messages":[]},"settings":{"modelId":"m","reasoningEffort":"off"}}' ;;
    *load_session*) ok '{"session":{"messages":[]},"settings":{"modelId":"m","reasoningEffort":"off"}}' ;;
    *'"text":"die"'*) ok '{}'; say '{"type":"droid_working_state_changed","newState":"thinking"}'; exit 3 ;;
    *add_user_message*) ok '{}'; say '{"type":"droid_working_state_changed","newState":"thinking"}'
      say '{"type":"assistant_text_delta","messageId":"a","blockIndex":0,"textDelta":"worked"}'
      say '{"type":"agent_turn_completed","reason":"completed"}'; say '{"type":"droid_working_state_changed","newState":"idle"}' ;;
    *) ok '{}' ;;
  esac
done
"#;

#[tokio::test]
async fn dead_worker_ends_its_session_only_and_the_next_message_revives_it() {
    let folder = tempfile::tempdir().unwrap();
    let worker = folder.path().join("worker");
    fs_err::write(&worker, WORKER).unwrap();
    fs_err::set_permissions(&worker, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut stage = Stage::with(script(), &["--droid-path", worker.to_str().unwrap()]);
    let mut client = stage.client().await;
    let (one, two) = (client.open().await, client.open().await);
    assert_eq!(text_of(&client.turn(&two, "work").await), "worked");
    client.request("daemon.add_user_message", json!({"sessionId": one, "text": "die"})).await;
    let exited = json!({"params": {"sessionId": one, "notification": {"type": "session_process_exited"}}});
    client.until(&exited).await;
    let error = json!({"params": {"sessionId": one, "notification": {"type": "error", "errorType": "ProcessExitError"}}});
    client.until(&error).await;
    client.until(&json!({"params": {"sessionId": one, "notification": {"newState": "idle"}}})).await;
    let opened = client.call("daemon.list_opened_sessions", json!({})).await;
    assert_eq!(opened["sessions"].as_array().unwrap().len(), 1, "{opened}");
    assert_eq!(opened["sessions"][0]["sessionId"], two);
    assert_eq!(text_of(&client.turn(&one, "work").await), "worked");
    assert_eq!(text_of(&client.turn(&two, "work").await), "worked");
    stage.stop();
}

#[tokio::test]
async fn worker_that_cannot_be_started_fails_the_call_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let worker = folder.path().join("worker");
    fs_err::write(&worker, "#!/bin/sh\nexit 7\n").unwrap();
    fs_err::set_permissions(&worker, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut stage = Stage::with(script(), &["--droid-path", worker.to_str().unwrap()]);
    let mut client = stage.client().await;
    let params = json!({"machineId": "m", "cwd": stage.work(), "token": client.token});
    let refusal = client.refusal("daemon.initialize_session", params).await;
    assert_eq!(refusal["code"], -32603, "{refusal}");
    assert!(refusal["message"].as_str().unwrap().contains("ended"), "{refusal}");
    assert_eq!(client.call("daemon.list_opened_sessions", json!({})).await, json!({"sessions": []}));
    stage.stop();
}

/// The number of open files of a process.
fn handles(process: u32) -> usize {
    fs_err::read_dir(format!("/proc/{process}/fd")).unwrap().count()
}

#[tokio::test]
async fn opened_and_closed_sessions_leave_no_files_open() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let cycle = async |client: &mut super::stage::Client| {
        let session = client.open().await;
        client.turn(&session, "say hello").await;
        client.call("daemon.close_session", json!({"sessionId": session})).await;
        client.seen.clear();
    };
    for _ in 0..5 {
        cycle(&mut client).await;
    }
    let before = handles(stage.id());
    for _ in 0..50 {
        cycle(&mut client).await;
    }
    assert_eq!(handles(stage.id()), before);
    assert_eq!(client.call("daemon.list_opened_sessions", json!({})).await, json!({"sessions": []}));
    stage.stop();
}
