//! Prompts that were accepted: none is lost with its agent or its daemon, none runs twice, and they keep their order.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::stage::{Client, Stage, script};

/// A worker that writes what it gets to `log`. The turn of `first` continues; what comes then is queued, until `next` ends the turn or
/// `die` ends the worker. Without a turn, every prompt runs at once.
const WORKER: &str = r#"#!/bin/sh
busy=
while read -r line; do
  id=${line#*'"id":"'}; id=${id%%'"'*}
  session=${line#*'"sessionId":"'}; session=${session%%'"'*}
  text=${line#*'"text":"'}; text=${text%%'"'*}
  message=${line#*'"messageId":"'}; message=${message%%'"'*}
  ok() { echo '{"jsonrpc":"2.0","type":"response","factoryApiVersion":"1.0.0","id":"'"$id"'","result":'"$1"'}'; }
  say() { echo '{"jsonrpc":"2.0","type":"notification","factoryApiVersion":"1.0.0","method":"droid.session_notification","params":{"notification":'"$1"'}}'; }
  begin() { say '{"type":"droid_working_state_changed","newState":"thinking"}'; say '{"type":"create_message","message":{"id":"'"$message"'","role":"user","content":[]}}'; }
  over() { say '{"type":"agent_turn_completed","reason":"completed","turnId":"'"$1"'"}'; say '{"type":"droid_working_state_changed","newState":"idle"}'; }
  case "$line" in
    *initialize_session*) ok '{"sessionId":"'"$session"'","session":{"messages":[]},"settings":{"modelId":"m","reasoningEffort":"off"}}' ;;
    *load_session*) ok '{"session":{"messages":[]},"settings":{"modelId":"m","reasoningEffort":"off"}}' ;;
    *add_user_message*)
      echo "$text" >> "$MUSHER_TEST_LOG"
      case "$text" in
        first) ok '{}'; busy=$message; begin ;;
        next) ok '{}'; over "$busy" ;;
        die) exit 3 ;;
        *) ok '{}'; [ -n "$busy" ] || { begin; over "$message"; } ;;
      esac ;;
    *) ok '{}' ;;
  esac
done
"#;

/// A stage with a worker.
struct Workers {
    stage: Stage,
    folder: tempfile::TempDir,
}

impl Workers {
    fn new(worker: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("worker");
        fs_err::write(&path, worker).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let log = folder.path().join("log");
        let variables = [("MUSHER_TEST_LOG", log.to_str().unwrap())];
        let stage = Stage::with_variables(script(), &["--droid-path", path.to_str().unwrap()], &variables);
        Self { stage, folder }
    }

    /// The texts that the workers got, in order.
    fn received(&self) -> Vec<String> {
        let text = fs_err::read_to_string(self.folder.path().join("log")).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

/// Sends a prompt whose id is its text, and waits for the acknowledgement.
async fn acknowledged(client: &mut Client, session: &str, text: &str, id: &str) {
    let params = json!({"sessionId": session, "text": text, "messageId": id});
    assert_eq!(client.call("daemon.add_user_message", params).await, json!({}));
}

fn completed(id: &str) -> Value {
    json!({"params": {"notification": {"type": "agent_turn_completed", "turnId": id}}})
}

#[tokio::test]
async fn queued_prompt_survives_an_orderly_stop_and_runs_once() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    // the turn of the first prompt waits for a person, so the second one is queued
    client.request("daemon.add_user_message", json!({"sessionId": session, "text": "touch it"})).await;
    client.until(&json!({"method": "daemon.request_permission"})).await;
    acknowledged(&mut client, &session, "queued", "queued-1").await;
    stage.stop();
    stage.start();

    let mut client = stage.client().await;
    let loaded = client.load(&session, Some(0)).await;
    let last = loaded["lastSequence"].as_u64().unwrap();
    assert!(last > 0, "{loaded}");
    let mut is_discarded = false;
    loop {
        let message = client.next().await;
        is_discarded |= message["params"]["notification"]["type"] == "queued_messages_discarded";
        if super::stage::has(&message, &completed("queued-1")) {
            break;
        }
    }
    assert!(!is_discarded, "clients must not be told that the prompt is gone");
    let params = json!({"sessionId": session, "role": "user"});
    let messages = client.call("daemon.get_session_messages", params).await["messages"].to_string();
    assert_eq!(messages.matches("\"queued\"").count(), 1, "{messages}");
    stage.stop();
}

#[tokio::test]
async fn prompt_that_an_interrupt_discards_does_not_come_back() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    client.request("daemon.add_user_message", json!({"sessionId": session, "text": "touch it"})).await;
    client.until(&json!({"method": "daemon.request_permission"})).await;
    acknowledged(&mut client, &session, "queued", "queued-1").await;
    client.call("daemon.interrupt_session", json!({"sessionId": session})).await;
    client.until_idle(&session).await;
    stage.stop();
    stage.start();
    let mut client = stage.client().await;
    client.load(&session, None).await;
    client.turn(&session, "say hello").await;
    let params = json!({"sessionId": session, "role": "user"});
    let messages = client.call("daemon.get_session_messages", params).await["messages"].to_string();
    assert!(!messages.contains("\"queued\""), "{messages}");
    stage.stop();
}

#[tokio::test]
async fn end_of_another_turn_is_not_the_beginning_of_a_queued_prompt() {
    let mut workers = Workers::new(WORKER);
    let mut client = workers.stage.client().await;
    let session = client.open().await;
    // the id of the queued prompt is part of the other one
    acknowledged(&mut client, &session, "first", "p-10").await;
    client.until(&json!({"params": {"notification": {"newState": "thinking"}}})).await;
    acknowledged(&mut client, &session, "second", "p-1").await;
    acknowledged(&mut client, &session, "next", "p-2").await;
    client.until(&completed("p-10")).await;
    workers.stage.kill();
    workers.stage.start();

    let mut client = workers.stage.client().await;
    client.load(&session, Some(0)).await;
    client.until(&completed("p-1")).await;
    let received = workers.received();
    assert_eq!(received.iter().filter(|it| *it == "first").count(), 1, "{received:?}");
    assert_eq!(received[..4], ["first", "second", "next", "second"], "{received:?}");
    workers.stage.stop();
}

#[tokio::test]
async fn acknowledged_prompts_of_a_dead_worker_run_in_their_order_and_the_begun_one_does_not() {
    let mut workers = Workers::new(WORKER);
    let mut client = workers.stage.client().await;
    let session = client.open().await;
    acknowledged(&mut client, &session, "first", "p-1").await;
    client.until(&json!({"params": {"notification": {"newState": "thinking"}}})).await;
    for number in 2..=6 {
        acknowledged(&mut client, &session, &format!("queued {number}"), &format!("p-{number}")).await;
    }
    let die = json!({"sessionId": session, "text": "die", "messageId": "p-7"});
    let refusal = client.refusal("daemon.add_user_message", die).await;
    assert!(refusal["message"].as_str().unwrap().contains("ended"), "{refusal}");
    let queued: Vec<String> = (2..=6).map(|number| format!("queued {number}")).collect();
    let all =
        [&["first".to_owned()], &queued[..], &["die".to_owned()], &queued, &["die".to_owned()]].concat();
    assert_eq!(workers.received(), all);
    workers.stage.stop();
}

/// A worker that opens no session, and ends when the test allows it.
const REFUSING: &str = "#!/bin/sh\nread -r line < \"$MUSHER_TEST_LOG.pipe\"\nexit 7\n";

fn pipe(folder: &Path) -> PathBuf {
    let path = folder.join("log.pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    path
}

#[tokio::test]
async fn prompt_that_is_sent_again_while_its_agent_opens_fails_with_it() {
    let mut workers = Workers::new(REFUSING);
    let pipe = pipe(workers.folder.path());
    let mut client = workers.stage.client().await;
    let session = "00000000-0000-4000-8000-000000000001";
    let prompt = json!({"sessionId": session, "text": "hello", "messageId": "p-1"});
    let first = client.request("daemon.add_user_message", prompt.clone()).await;
    let again = client.request("daemon.add_user_message", prompt.clone()).await;
    // refused by the session's task at once, and after the prompts
    let wrong = json!({"sessionId": session, "token": "t", "afterSequence": "wrong"});
    assert_eq!(client.refusal("daemon.load_session", wrong).await["code"], -32602);
    assert!(
        client.seen.iter().all(|it| it["type"] != "response" || it.get("result").is_none()),
        "{:?}",
        client.seen
    );
    tokio::task::spawn_blocking(move || fs_err::write(pipe, "go\n")).await.unwrap().unwrap();
    for id in [first, again] {
        let response = client.until(&json!({"type": "response", "id": id})).await;
        assert_eq!(response["error"]["code"], -32603, "{response}");
    }
    workers.stage.stop();
}
