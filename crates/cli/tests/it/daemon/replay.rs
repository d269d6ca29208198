//! Nothing is lost and nothing comes twice: replay after a position, prompts that are sent again.

use serde_json::{Value, json};

use super::stage::{Client, Stage, sequences, text_of};

/// The notifications of a session, by sequence.
fn events(messages: &[Value], session: &str) -> Vec<(u64, Value)> {
    let ours = messages.iter().filter(|it| it["params"]["sessionId"] == session);
    ours.filter_map(|it| Some((it["params"]["sequence"].as_u64()?, it["params"]["notification"].clone())))
        .collect()
}

/// Reads `count` notifications of a session.
async fn take(client: &mut Client, session: &str, count: usize) -> Vec<(u64, Value)> {
    let mut taken = Vec::new();
    while taken.len() < count {
        taken.extend(events(&[client.next().await], session));
    }
    taken
}

#[tokio::test]
async fn client_that_is_cut_off_at_any_message_gets_exactly_what_it_missed() {
    let mut stage = Stage::new();
    let mut watcher = stage.client().await;
    let session = watcher.open().await;
    watcher.turn(&session, "say hello").await;
    watcher.call("daemon.close_session", json!({"sessionId": session})).await;
    let last = watcher.load(&session, Some(0)).await["lastSequence"].as_u64().unwrap();
    watcher.seen.clear();
    let all = take(&mut watcher, &session, usize::try_from(last).unwrap()).await;

    for cut in 0..all.len() {
        let mut client = stage.client().await;
        let loaded = client.load(&session, Some(0)).await;
        assert_eq!(loaded["lastSequence"], last, "{loaded}");
        let before = take(&mut client, &session, cut).await;
        drop(client);
        let mut client = stage.client().await;
        let position = before.last().map_or(0, |(sequence, _)| *sequence);
        client.load(&session, Some(position)).await;
        let after = take(&mut client, &session, all.len() - cut).await;
        assert_eq!([before, after].concat(), all, "cut after {cut}");
    }
    stage.stop();
}

#[tokio::test]
async fn client_that_returns_during_a_turn_continues_live_without_a_gap() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    client.request("daemon.add_user_message", json!({"sessionId": session, "text": "touch it"})).await;
    client.until(&json!({"method": "daemon.request_permission"})).await;
    drop(client);

    let mut client = stage.client().await;
    let loaded = client.load(&session, Some(0)).await;
    assert_eq!(loaded["isAgentLoopInProgress"], true, "{loaded}");
    let asked = client.until(&json!({"method": "daemon.request_permission"})).await;
    assert_eq!(loaded["pendingPermissions"][0]["requestId"], asked["id"], "{loaded}");
    client.answer(&asked, json!({"selectedOption": "proceed_once"})).await;
    let messages = client.until_idle(&session).await;
    assert_eq!(text_of(&messages), "Touched.");
    assert!(stage.work().join("made.txt").exists());

    let mut other = stage.client().await;
    let loaded = other.load(&session, Some(0)).await;
    let last = loaded["lastSequence"].as_u64().unwrap();
    let replayed = take(&mut other, &session, usize::try_from(last).unwrap()).await;
    let numbers: Vec<u64> = replayed.iter().map(|(sequence, _)| *sequence).collect();
    assert_eq!(numbers, (1..=last).collect::<Vec<_>>());
    stage.stop();
}

#[tokio::test]
async fn events_are_replayed_after_the_daemon_was_killed_and_continue() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    let all = events(&client.turn(&session, "say hello").await, &session);
    stage.kill();
    stage.start();

    let mut client = stage.client().await;
    let position = all[2].0;
    let loaded = client.load(&session, Some(position)).await;
    assert_eq!(loaded["workingState"], "idle", "{loaded}");
    let missed = take(&mut client, &session, all.len() - 3).await;
    assert_eq!(missed, all[3..]);
    let more = client.turn(&session, "again").await;
    let numbers = sequences(&more, &session);
    assert_eq!(numbers[0], all.last().unwrap().0 + 1);
    stage.stop();
}

#[tokio::test]
async fn prompt_that_is_sent_again_is_recognised_also_after_a_restart() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    let prompt = json!({"sessionId": session, "text": "say hello", "messageId": "prompt-1"});
    let first = client.call("daemon.add_user_message", prompt.clone()).await;
    assert_eq!(first.get("duplicate"), None);
    client.until_idle(&session).await;
    let again = client.call("daemon.add_user_message", prompt.clone()).await;
    assert_eq!(again["duplicate"], true);
    stage.kill();
    stage.start();
    let mut client = stage.client().await;
    assert_eq!(client.call("daemon.add_user_message", prompt).await["duplicate"], true);
    let params = json!({"sessionId": session, "role": "user"});
    let messages = client.call("daemon.get_session_messages", params).await["messages"].to_string();
    assert_eq!(messages.matches("say hello").count(), 1, "{messages}");
    stage.stop();
}

#[tokio::test]
async fn accepted_prompt_survives_the_death_of_the_daemon_and_runs_once() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let session = client.open().await;
    // the turn of the first prompt waits for a person, so the second one is queued
    client.request("daemon.add_user_message", json!({"sessionId": session, "text": "touch it"})).await;
    client.until(&json!({"method": "daemon.request_permission"})).await;
    let queued = json!({"sessionId": session, "text": "queued", "messageId": "queued-1"});
    client.call("daemon.add_user_message", queued).await;
    stage.kill();
    stage.start();

    let mut client = stage.client().await;
    client.load(&session, Some(0)).await;
    let asked = client.until(&json!({"method": "daemon.request_permission"})).await;
    client.answer(&asked, json!({"sessionId": session, "selectedOption": "proceed_once"})).await;
    let completed =
        json!({"params": {"notification": {"type": "agent_turn_completed", "turnId": "queued-1"}}});
    client.until(&completed).await;
    let params = json!({"sessionId": session, "role": "user"});
    let messages = client.call("daemon.get_session_messages", params).await["messages"].to_string();
    assert_eq!(messages.matches("\"queued\"").count(), 1, "{messages}");
    stage.stop();
}
