//! Connections and daemons that end at any moment: events come once each, and turns end as if nothing had happened.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script, when};

use super::stage::{Client, Stage};

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Adds a notification of a session. One that came before must be the same.
fn keep(seen: &mut BTreeMap<u64, Value>, session: &str, message: &Value) {
    if message["params"]["sessionId"] == *session
        && let Some(sequence) = message["params"]["sequence"].as_u64()
    {
        let next = seen.last_key_value().map_or(1, |(last, _)| last + 1);
        assert_eq!(sequence, next, "neither a gap nor a repetition");
        seen.insert(sequence, message["params"]["notification"].clone());
    }
}

#[tokio::test]
async fn client_with_random_disconnects_during_turns_sees_every_event_once_and_in_order() {
    for seed in 1..=6 {
        let mut numbers = Numbers(seed);
        let mut stage = Stage::new();
        let mut author = stage.client().await;
        let session = author.open().await;
        let (mut seen, mut turns) = (BTreeMap::new(), 0);
        while turns < 4 {
            let text = format!("turn {turns}");
            author.request("daemon.add_user_message", json!({"sessionId": session, "text": text})).await;
            turns += 1;
            for _ in 0..=numbers.below(3) {
                let mut reader = stage.client().await;
                let position = seen.last_key_value().map_or(0, |(last, _)| *last);
                let last = reader.load(&session, Some(position)).await["lastSequence"].as_u64().unwrap();
                // as many as there are for certain, or fewer
                let end = position + numbers.below(12).min(last - position);
                while seen.last_key_value().map_or(0, |(last, _)| *last) < end {
                    keep(&mut seen, &session, &reader.next().await);
                }
            }
            author.until_idle(&session).await;
        }
        // the rest, and everything at once
        let (mut rest, mut whole) = (stage.client().await, stage.client().await);
        let mut all = BTreeMap::new();
        let last = whole.load(&session, Some(0)).await["lastSequence"].as_u64().unwrap();
        let position = seen.last_key_value().map_or(0, |(last, _)| *last);
        rest.load(&session, Some(position)).await;
        while all.len() < usize::try_from(last).unwrap() {
            keep(&mut all, &session, &whole.next().await);
        }
        while seen.len() < all.len() {
            keep(&mut seen, &session, &rest.next().await);
        }
        assert_eq!(seen, all, "seed {seed}");
        stage.stop();
    }
}

/// A model whose turn runs one command.
fn runs_once() -> Script {
    let run = json!({
        "command": "echo ran >> runs.txt", "summary": "Run", "timeout": 30,
        "riskLevel": "medium", "riskLevelReason": "it writes a file",
    });
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text("Ran.").when(when().result_of("Execute")))
        .otherwise(Reply::tool("Execute", run))
}

/// Follows the turn and allows its call. Returns whether the turn was complete before `count` messages had come.
async fn follow(client: &mut Client, session: &str, count: usize) -> bool {
    let mut has_answer = false;
    for _ in 0..count {
        let message = client.next().await;
        if message["method"] == "daemon.request_permission" {
            client.answer(&message, json!({"sessionId": session, "selectedOption": "proceed_once"})).await;
        }
        let notification = &message["params"]["notification"];
        has_answer |=
            notification["type"] == "create_message" && notification.to_string().contains("\"Ran.\"");
        // a daemon that is killed after the answer of the model leaves nothing to continue
        if notification["type"] == "agent_turn_completed"
            && (notification["reason"] == "completed" || has_answer)
        {
            return true;
        }
    }
    false
}

#[tokio::test]
async fn daemon_that_is_killed_at_any_message_of_a_turn_completes_it_and_runs_its_call_at_most_once() {
    for count in 0.. {
        let mut stage = Stage::with(runs_once(), &["--resume-turns"]);
        let mut client = stage.client().await;
        let session = client.open().await;
        let prompt = json!({"sessionId": session, "text": "run it", "messageId": "prompt-1"});
        // acknowledged: it must not be lost from now on
        client.call("daemon.add_user_message", prompt).await;
        let was_complete = follow(&mut client, &session, count).await;
        stage.kill();
        stage.start();
        let mut client = stage.client().await;
        client.load(&session, Some(0)).await;
        assert!(follow(&mut client, &session, usize::MAX).await);
        let runs = fs_err::read_to_string(stage.work().join("runs.txt")).unwrap_or_default();
        assert!(runs == "ran\n" || (runs.is_empty() && !was_complete), "after {count} messages: {runs:?}");
        let params = json!({"sessionId": session, "role": "user"});
        let messages = client.call("daemon.get_session_messages", params).await["messages"].to_string();
        assert_eq!(messages.matches("\"run it\"").count(), 1, "after {count} messages: {messages}");
        let opened = client.call("daemon.list_opened_sessions", json!({})).await;
        assert_eq!(client.call("daemon.list_inbox", json!({})).await, json!({"items": []}), "{opened}");
        stage.stop();
        if was_complete {
            assert!(count > 5, "the turn has several messages");
            return;
        }
    }
}
