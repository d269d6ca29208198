//! An editor that does not read: the agent has to wait, nothing is lost, and a cancel still works.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use musher::Agent;
use musher_rpc::{Bound, Limits};
use serde_json::json;

use crate::actor::actor;
use crate::raw_editor::RawEditor;

/// How much the agent has to say.
const ALL: usize = 20_000;
/// How many messages may be on the way at most: the queues of the agent's connection and of the editor's, and the turn's own.
const ON_THE_WAY: usize = 8_000;

/// An agent that has much to say, and how much of it it could say so far.
fn talker() -> (Agent, Arc<AtomicUsize>) {
    let said = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&said);
    let agent = actor(move |call| {
        let counter = Arc::clone(&counter);
        async move {
            call.answer_as_usual().await;
            if call.method() != "droid.add_user_message" {
                return;
            }
            for n in 0..ALL {
                if !call.say_text(&format!("m{n}"), &format!("{n} ")).await {
                    return;
                }
                counter.fetch_add(1, Ordering::Relaxed);
            }
            call.end_turn("completed").await;
        }
    });
    (agent, said)
}

/// Waits until nothing moves any more: the clock of these tests stands still as long as something does.
async fn everything_waits() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

fn limits() -> Limits {
    Limits { data: Bound { messages: 100, bytes: 1024 * 1024 }, ..Limits::default() }
}

#[tokio::test(start_paused = true)]
async fn agent_waits_for_a_stalled_editor_without_loss() {
    let (agent, said) = talker();
    let mut editor = RawEditor::start(agent, limits());
    editor.open().await;
    editor.prompt("p", "Talk.").await;
    everything_waits().await;
    let before = said.load(Ordering::Relaxed);
    assert!(before < ON_THE_WAY, "{before} messages wait for an editor that reads none");

    let mut heard = 0;
    loop {
        let message = editor.next().await;
        if message["id"] == "p" {
            assert_eq!(message["result"]["stopReason"], "end_turn", "{message}");
            break;
        }
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            assert_eq!(update["content"]["text"], format!("{heard} "));
            heard += 1;
        }
    }
    assert_eq!(heard, ALL);
    editor.leave().await;
}

#[tokio::test(start_paused = true)]
async fn cancel_of_a_stalled_editor_is_received() {
    let (agent, _) = talker();
    let mut editor = RawEditor::start(agent, limits());
    editor.open().await;
    editor.prompt("p", "Talk.").await;
    everything_waits().await;
    editor.notify("session/cancel", json!({"sessionId": "s"})).await;
    // longer than a cancelled turn is waited for
    tokio::time::sleep(Duration::from_secs(10)).await;
    let answer = editor.answer("p").await;
    assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
    editor.leave().await;
}

#[tokio::test(start_paused = true)]
async fn requests_of_a_stalled_editor_are_bounded() {
    let mut editor = RawEditor::start(actor(|call| async move { call.answer_as_usual().await }), limits());
    editor.open().await;
    let writing = async {
        for n in 0..ALL {
            editor.call(&n.to_string(), "session/dance", json!({})).await;
        }
    };
    let written = tokio::time::timeout(Duration::from_secs(1), writing).await;
    assert!(written.is_err(), "{ALL} questions were taken without an answer being read");
    // what is half written is given up, as the editor is
    drop(editor);
}
