//! Connections that end at any moment: every event comes once.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::stage::Stage;

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
