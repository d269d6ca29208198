//! Requests of an agent to the editor's files and terminals, and the results that the agent gets.

use std::fmt;
use std::pin::Pin;

use musher::wire::{Frame, Json, METHODS, Notification, Request, RpcError};
use musher::{Agent, Connection, Connector, transport::memory};
use musher_rpc::Limits;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::actor::{Call, actor};
use crate::raw_editor::RawEditor;

/// An agent that requests files and terminals: each prompt is the request to send, and its outcome comes out of the channel.
struct Requesting {
    outcomes: mpsc::Sender<Result<Json, RpcError>>,
    withdraws: bool,
}

fn requesting(withdraws: bool) -> (Agent, mpsc::Receiver<Result<Json, RpcError>>) {
    let (outcomes, received) = mpsc::channel(8);
    (Agent::connector(Requesting { outcomes, withdraws }), received)
}

impl Connector for Requesting {
    fn connect(&self) -> Pin<Box<dyn Future<Output = musher::Result<Connection>> + Send + '_>> {
        let (ours, mut theirs) = memory();
        let (outcomes, withdraws) = (self.outcomes.clone(), self.withdraws);
        tokio::spawn(async move {
            let mut turn = None;
            while let Ok(frame) = theirs.incoming.recv().await {
                let outgoing = theirs.outgoing.clone();
                match frame {
                    Frame::Request(request) if &*request.method == "droid.add_user_message" => {
                        let call = Call::new(request, outgoing.clone());
                        call.answer_as_usual().await;
                        let prompt: Value =
                            serde_json::from_str(call.params()["text"].as_str().unwrap()).unwrap();
                        let method = prompt["method"].as_str().unwrap().to_owned();
                        let params = Json::new(&prompt["params"]).unwrap();
                        turn = Some(call);
                        outgoing.send(Frame::Request(Request::new("editor-1", method, params))).await.ok();
                        if withdraws {
                            let params = Json::new(&json!({"requestId": "editor-1"})).unwrap();
                            let cancel = Notification::new("musher.cancel_request", params);
                            outgoing.send(Frame::Notification(cancel)).await.ok();
                        }
                    }
                    Frame::Request(request) => Call::new(request, outgoing).answer_as_usual().await,
                    Frame::Response(response) => {
                        outcomes.send(response.outcome).await.ok();
                        if let Some(call) = turn.take() {
                            call.end_turn("completed").await;
                        }
                    }
                    _ => {}
                }
            }
        });
        Box::pin(std::future::ready(Ok(ours)))
    }
}

impl fmt::Debug for Requesting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Requesting")
    }
}

/// An editor with a session, which announced these capabilities.
async fn open(agent: Agent, capabilities: Value) -> RawEditor {
    let mut editor = RawEditor::start(agent, Limits::default());
    let hello = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    editor.call("hello", "initialize", hello).await;
    editor.answer("hello").await;
    editor.call("open", "session/new", json!({"cwd": "/w", "mcpServers": []})).await;
    assert_eq!(editor.answer("open").await["result"]["sessionId"], "s");
    editor
}

async fn asked_for(editor: &mut RawEditor, method: &str) -> Value {
    loop {
        let message = editor.next().await;
        if message["method"] == method {
            return message;
        }
    }
}

fn read(path: &str) -> String {
    json!({"method": "musher.read_text_file", "params": {"path": path}}).to_string()
}

#[tokio::test]
async fn request_of_the_agent_reaches_the_editor_and_its_answer_the_agent() {
    let (agent, mut outcomes) = requesting(false);
    let mut editor = open(agent, json!({"fs": {"readTextFile": true}})).await;
    editor.prompt("p", &read("/w/a.rs")).await;
    let request = asked_for(&mut editor, "fs/read_text_file").await;
    assert_eq!(request["params"], json!({"sessionId": "s", "path": "/w/a.rs"}));
    editor
        .write(
            &json!({"jsonrpc": "2.0", "id": request["id"], "result": {"content": "fn a() {}"}}).to_string(),
        )
        .await;
    let result = outcomes.recv().await.unwrap().unwrap();
    assert_eq!(result.to_value().unwrap(), json!({"text": "fn a() {}"}));
    assert_eq!(editor.answer("p").await["result"]["stopReason"], "end_turn");
    editor.leave().await;
}

#[tokio::test]
async fn request_that_the_editor_refuses_is_an_error_for_the_agent() {
    let (agent, mut outcomes) = requesting(false);
    let mut editor = open(agent, json!({"fs": {"readTextFile": true}})).await;
    editor.prompt("p", &read("/w/a.rs")).await;
    let request = asked_for(&mut editor, "fs/read_text_file").await;
    let error = json!({"code": -32603, "message": "it is locked"});
    editor.write(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string()).await;
    assert_eq!(outcomes.recv().await.unwrap().unwrap_err().message, "it is locked");
    editor.leave().await;
}

#[tokio::test]
async fn request_that_the_agent_cancels_is_withdrawn_from_the_editor() {
    let (agent, _outcomes) = requesting(true);
    let mut editor = open(agent, json!({"terminal": true})).await;
    let params = json!({"terminalId": "t"});
    editor
        .prompt("p", &json!({"method": "musher.wait_for_terminal_exit", "params": params}).to_string())
        .await;
    // the request may be cancelled before it was sent, so only the end is certain
    editor.notify("session/cancel", json!({"sessionId": "s"})).await;
    assert_eq!(editor.answer("p").await["result"]["stopReason"], "cancelled");
    editor.leave().await;
}

#[tokio::test]
async fn request_without_an_editor_is_refused_as_an_unknown_method() {
    let (agent, mut outcomes) = requesting(false);
    let mut editor = open(agent, json!({})).await;
    editor.prompt("p", &read("/w/a.rs")).await;
    let error = outcomes.recv().await.unwrap().unwrap_err();
    assert_eq!(error.code, RpcError::METHOD_NOT_FOUND);
    editor.leave().await;
}

#[tokio::test]
async fn agents_are_sent_only_methods_of_droid_and_the_capabilities_of_the_editor() {
    for (capabilities, announced) in [
        (json!({}), Value::Null),
        (
            json!({"fs": {"readTextFile": true}, "terminal": true}),
            json!({"musher.editor": {"readTextFile": true, "writeTextFile": false, "terminal": true}}),
        ),
    ] {
        let (seen, mut calls) = mpsc::channel(64);
        let agent = actor(move |call| {
            let seen = seen.clone();
            async move {
                call.answer_as_usual().await;
                seen.send((call.method(), call.params())).await.ok();
                if call.method() == "droid.add_user_message" {
                    call.end_turn("completed").await;
                }
            }
        });
        let mut editor = open(agent, capabilities).await;
        editor.prompt("p", "hello").await;
        assert_eq!(editor.answer("p").await["result"]["stopReason"], "end_turn");
        editor.leave().await;
        let mut opened = None;
        while let Ok((method, params)) = calls.try_recv() {
            assert!(method.starts_with("droid.") && METHODS.contains(&&*method), "{method}");
            if method == "droid.initialize_session" {
                opened = Some(params["clientCapabilities"].clone());
            }
        }
        assert_eq!(opened, Some(announced));
    }
}
