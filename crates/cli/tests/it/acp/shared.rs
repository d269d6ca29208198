//! Two editors, each with its own `musher acp`, and one session. And the end of a process whose editor is gone.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use musher_rehearse::{Hang, Reply, Script, when};
use serde_json::{Value, json};

use super::editor::Editor;
use crate::run::stage::Stage;

fn in_workspace(stage: &Stage, session: &str) -> Value {
    json!({"sessionId": session, "cwd": stage.workspace(), "mcpServers": []})
}

#[test]
fn session_without_a_prompt_is_resumed_by_another_process() {
    let on = |prompt: &str| when().with_tools().prompt(prompt);
    let stage = Stage::new(Script::new().reply(Reply::text("Here.").when(on("hello"))));
    for method in ["session/resume", "session/load"] {
        let mut first = Editor::start(stage.musher(&["acp"]));
        let opened = first.call("session/new", json!({"cwd": stage.workspace(), "mcpServers": []}));
        let session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
        first.leave();
        let mut second = Editor::start(stage.musher(&["acp"]));
        let resumed = second.call(method, in_workspace(&stage, &session));
        assert!(resumed["result"].is_object(), "{method}: {resumed}");
        let done = second.call("session/prompt", Editor::prompt(&session, "hello"));
        assert_eq!(done["result"]["stopReason"], "end_turn", "{method}: {done}");
    }
}

#[test]
fn session_is_open_in_two_editors_and_a_prompt_during_the_others_turn_is_refused_with_its_process() {
    let on = |prompt: &str| when().with_tools().prompt(prompt);
    let script = Script::new()
        .reply(Reply::text("Third.").when(on("third")))
        .reply(Reply::hang(Hang::AfterHeaders).when(on("second")))
        .reply(Reply::text("First.").when(on("first")));
    let stage = Stage::new(script);
    let (mut one, mut two) = (Editor::start(stage.musher(&["acp"])), Editor::start(stage.musher(&["acp"])));
    let opened = one.call("session/new", json!({"cwd": stage.workspace(), "mcpServers": []}));
    let session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
    assert!(two.call("session/load", in_workspace(&stage, &session))["result"].is_object());
    let done = two.call("session/prompt", Editor::prompt(&session, "first"));
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");

    let calls = stage.calls().len();
    let running = one.ask("session/prompt", Editor::prompt(&session, "second"));
    stage.until_asked(calls + 1);
    let refused = two.call("session/prompt", Editor::prompt(&session, "third"));
    let text = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains(&format!("running in process {}", one.process())), "{refused}");
    let mut three = Editor::start(stage.musher(&["acp"]));
    let id = three.ask("session/load", in_workspace(&stage, &session));
    three.until(|message| message.to_string().contains("First."));
    assert!(three.answer(id)["result"].is_object(), "loading always works");

    one.write(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}));
    assert_eq!(one.answer(running)["result"]["stopReason"], "cancelled");
    let done = two.call("session/prompt", Editor::prompt(&session, "third"));
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    let calls = stage.calls();
    let third =
        calls.iter().rfind(|call| call.body.as_ref().is_some_and(|body| body.to_string().contains("third")));
    let body = third.unwrap().body.as_ref().unwrap().to_string();
    assert!(body.contains("first") && body.contains("second"), "it continues what the other wrote: {body}");
}

#[test]
fn process_ends_within_five_seconds_after_its_editor_is_gone_whatever_the_agent_does() {
    // opens a session, and then notices neither the end of its input nor a request to end
    let script = r#"#!/bin/sh
trap '' TERM INT HUP
read -r line
id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
echo '{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"response","id":"'"$id"'","result":{"sessionId":"s","session":{"messages":[]},"settings":{}}}'
while :; do sleep 0.1; done
"#;
    let stage = Stage::new(Script::new());
    let agent = stage.file("agent.sh", script);
    fs_err::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut editor = Editor::start(stage.musher(&["acp", "--agent", &agent]));
    let opened = editor.call("session/new", json!({"cwd": stage.workspace(), "mcpServers": []}));
    assert_eq!(opened["result"]["sessionId"], "s", "{opened}");
    editor.ask("session/prompt", Editor::prompt("s", "never answered"));
    let took = editor.leave();
    assert!(took < Duration::from_secs(5), "{took:?}");
}
