//! What an editor should not do, and what it may do at any moment.

use musher_rpc::Limits;
use serde_json::{Value, json};

use crate::actor::actor;
use crate::raw_editor::RawEditor;

/// An agent that answers every prompt, except for `wait`.
fn echo() -> musher::Agent {
    actor(|call| async move {
        call.answer_as_usual().await;
        if call.method() == "droid.add_user_message" {
            let text = call.params()["text"].as_str().unwrap().to_owned();
            if text != "wait" {
                call.say_text(&text, &format!("You said {text}.")).await;
                call.end_turn("completed").await;
            }
        }
    })
}

#[tokio::test]
async fn bad_lines_are_answered_with_the_protocols_errors_and_harm_nothing() {
    let limits = Limits { line: 2000, ..Limits::default() };
    let mut editor = RawEditor::start(echo(), limits);
    editor.open().await;
    let too_long = format!(r#"{{"jsonrpc":"2.0","id":9,"method":"{}"}}"#, "x".repeat(3000));
    for (line, code) in [
        (b"this is not JSON".as_slice(), -32700),
        (br#"{"jsonrpc":"2.0","id":1,"method":"initialize","#, -32700),
        (b"\xff\xfe{}", -32700),
        (too_long.as_bytes(), -32700),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"initialize"}]"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":"session/dance","params":{}}"#, -32601),
        (br#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":7}}"#, -32602),
        (
            br#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}"#,
            -32002,
        ),
    ] {
        editor.write_bytes(line).await;
        let refused = loop {
            let message = editor.next().await;
            if message.get("error").is_some() {
                break message;
            }
        };
        assert_eq!(refused["error"]["code"], code, "{}: {refused}", String::from_utf8_lossy(line));
    }
    // neither an unknown notification nor an empty line is answered
    editor.notify("session/whistle", json!({})).await;
    editor.write("").await;
    editor.prompt("p", "hello").await;
    assert_eq!(editor.answer("p").await["result"]["stopReason"], "end_turn");
    editor.leave().await;
}

#[tokio::test]
async fn two_prompts_at_once_are_answered_one_after_the_other() {
    let mut editor = RawEditor::start(echo(), Limits::default());
    editor.open().await;
    editor.prompt("1", "one").await;
    editor.prompt("2", "two").await;
    let mut told = Vec::new();
    while told.len() < 4 {
        let message = editor.next().await;
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            told.push(update["content"]["text"].clone());
        } else if message.get("result").is_some() {
            told.push(message["id"].clone());
        }
    }
    assert_eq!(told, ["You said one.", "1", "You said two.", "2"]);
    editor.leave().await;
}

#[tokio::test]
async fn cancel_stops_earlier_prompts_and_no_later_one() {
    let mut editor = RawEditor::start(echo(), Limits::default());
    editor.open().await;
    editor.prompt("1", "wait").await;
    editor.prompt("2", "two").await;
    editor.notify("session/cancel", json!({"sessionId": "s"})).await;
    editor.notify("session/cancel", json!({"sessionId": "s"})).await;
    editor.prompt("3", "three").await;
    let mut ends = Vec::new();
    while ends.len() < 3 {
        let message = editor.next().await;
        if message.get("result").is_some() {
            ends.push((message["id"].clone(), message["result"]["stopReason"].clone()));
        }
    }
    ends.sort_by_key(|(id, _)| id.to_string());
    let expected: [(Value, Value); 3] =
        [("1", "cancelled"), ("2", "cancelled"), ("3", "end_turn")].map(|(id, end)| (id.into(), end.into()));
    assert_eq!(ends, expected);
    editor.leave().await;
}

#[tokio::test]
async fn withdrawn_prompt_is_cancelled() {
    let mut editor = RawEditor::start(echo(), Limits::default());
    editor.open().await;
    editor.prompt("1", "wait").await;
    editor.notify("$/cancel_request", json!({"requestId": "1"})).await;
    assert_eq!(editor.answer("1").await["result"]["stopReason"], "cancelled");
    editor.leave().await;
}

#[tokio::test]
async fn slow_session_open_can_be_cancelled() {
    let agent = actor(|_call| std::future::pending());
    let mut editor = RawEditor::start(agent, Limits::default());
    editor.hello().await;
    editor.call("open", "session/new", json!({"cwd": "/w", "mcpServers": []})).await;
    editor.notify("$/cancel_request", json!({"requestId": "open"})).await;
    assert_eq!(editor.answer("open").await["error"]["code"], -32800);
    editor.leave().await;
}

#[tokio::test]
async fn prompt_is_cancelled_even_if_the_agent_ignores_it() {
    let agent = actor(|call| async move {
        if call.method() != "droid.interrupt_session" {
            call.answer_as_usual().await;
        }
    });
    let mut editor = RawEditor::start(agent, Limits::default());
    editor.open().await;
    editor.prompt("1", "hello").await;
    editor.notify("session/cancel", json!({"sessionId": "s"})).await;
    assert_eq!(editor.answer("1").await["result"]["stopReason"], "cancelled");
    editor.leave().await;
}
