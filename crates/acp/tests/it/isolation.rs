//! Failures and limits of one session: they answer its requests and leave the other sessions alone.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use musher::wire::Frame;
use musher::{Agent, Connection, Connector, transport::memory};
use musher_rpc::Limits;
use serde_json::json;

use crate::actor::{actor, answer_all};
use crate::raw_editor::RawEditor;

/// What an agent does when it is started for the n-th time.
#[derive(Clone, Copy)]
enum Start {
    /// It works.
    Works,
    /// It works until the first prompt, then disconnects.
    DisconnectsAtPrompt,
    /// It panics while it connects.
    Panics,
}

/// An agent that starts as planned; after the plan it works.
struct Planned(&'static [Start], Arc<AtomicUsize>);

fn planned(starts: &'static [Start]) -> Agent {
    Agent::connector(Planned(starts, Arc::default()))
}

impl Connector for Planned {
    fn connect(&self) -> Pin<Box<dyn Future<Output = musher::Result<Connection>> + Send + '_>> {
        let start = self.1.fetch_add(1, Ordering::Relaxed);
        let start = self.0.get(start).copied().unwrap_or(Start::Works);
        let disconnects = match start {
            Start::Works => false,
            Start::DisconnectsAtPrompt => true,
            Start::Panics => panic!("as planned"),
        };
        let (ours, mut theirs) = memory();
        tokio::spawn(async move {
            while let Ok(frame) = theirs.incoming.recv().await {
                if let Frame::Request(request) = frame {
                    if disconnects && &*request.method == "droid.add_user_message" {
                        return;
                    }
                    answer_all(request, theirs.outgoing.clone()).await;
                }
            }
        });
        Box::pin(std::future::ready(Ok(ours)))
    }
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Planned")
    }
}

#[tokio::test]
async fn agent_that_panics_at_its_start_fails_only_that_request() {
    let mut editor = RawEditor::start(planned(&[Start::Works, Start::Panics]), Limits::default());
    editor.open().await;
    editor.call("second", "session/new", json!({"cwd": "/w", "mcpServers": []})).await;
    assert_eq!(editor.answer("second").await["error"]["code"], -32603);
    editor.prompt("p", "hello").await;
    assert_eq!(editor.answer("p").await["result"]["stopReason"], "end_turn");
    editor.leave().await;
}

#[tokio::test]
async fn agent_that_cannot_be_started_again_fails_the_prompt_and_the_next_one_works() {
    let agent = planned(&[Start::DisconnectsAtPrompt, Start::Panics, Start::Works]);
    let mut editor = RawEditor::start(agent, Limits::default());
    editor.open().await;
    editor.prompt("1", "hello").await;
    assert_eq!(editor.answer("1").await["error"]["code"], -32603);
    editor.prompt("2", "hello").await;
    assert_eq!(editor.answer("2").await["result"]["stopReason"], "end_turn");
    editor.leave().await;
}

#[tokio::test]
async fn prompts_beyond_the_queue_are_refused_and_the_others_can_be_cancelled() {
    let agent = actor(|call| async move { call.answer_as_usual().await });
    let mut editor = RawEditor::start(agent, Limits::default());
    editor.open().await;
    // one runs, 64 wait
    for n in 0..66 {
        editor.prompt(&n.to_string(), "hello").await;
    }
    let refused = editor.answer("65").await;
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    editor.notify("session/cancel", json!({"sessionId": "s"})).await;
    let mut cancelled = 0;
    while cancelled < 65 {
        cancelled += usize::from(editor.next().await["result"]["stopReason"] == "cancelled");
    }
    editor.leave().await;
}

#[tokio::test]
async fn closed_session_answers_its_prompts_as_cancelled() {
    let agent = actor(|call| async move { call.answer_as_usual().await });
    let mut editor = RawEditor::start(agent, Limits::default());
    editor.open().await;
    editor.prompt("1", "hello").await;
    editor.prompt("2", "hello").await;
    editor.call("close", "session/close", json!({"sessionId": "s"})).await;
    let mut answers = Vec::new();
    while answers.len() < 3 {
        let message = editor.next().await;
        if message.get("id").is_some() && message.get("method").is_none() {
            answers.push((message["id"].clone(), message["result"]["stopReason"].clone()));
        }
    }
    answers.sort_by_key(|(id, _)| id.to_string());
    assert_eq!(answers[..2], [("1".into(), "cancelled".into()), ("2".into(), "cancelled".into())]);
    editor.leave().await;
}
