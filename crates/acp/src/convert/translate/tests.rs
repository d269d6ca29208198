//! The updates that an editor gets for each event, and that no update is sent twice.

use std::sync::Arc;

use musher::wire::SessionNotification;
use musher::{TextDelta, ToolCall as CalledTool};

use super::*;

fn translator(can: EditorFeatures) -> Translator {
    Translator::new(PathBuf::from("/w"), can)
}

fn delta(message: &str, piece: &str) -> Event {
    Event::TextDelta(TextDelta::new(message, 0, piece))
}

fn message(json: Value) -> Message {
    serde_json::from_value(json).unwrap()
}

fn said(id: &str, text: &str) -> Event {
    let content = json!([{"type": "text", "text": text}]);
    Event::Assistant(Arc::new(message(json!({"id": id, "role": "assistant", "content": content}))))
}

fn call(id: &str, name: &str, input: Value) -> Event {
    Event::ToolCall(Box::new(CalledTool::new(id, name, input)))
}

fn progress(id: &str, output: &str) -> Event {
    let update = json!({"type": "tool_progress_update", "toolUseId": id, "update": {"fullOutput": output}});
    let SessionNotification::ToolProgressUpdate(update) = serde_json::from_value(update).unwrap() else {
        panic!("not a progress")
    };
    Event::ToolProgress(update)
}

fn told(translator: &mut Translator, events: &[Event]) -> Vec<Value> {
    let updates = events.iter().flat_map(|event| translator.event(event)).collect::<Vec<_>>();
    updates.iter().map(|update| serde_json::to_value(update).unwrap()).collect()
}

fn texts(updates: &[Value]) -> Vec<&str> {
    updates.iter().filter_map(|update| update["content"]["text"].as_str()).collect()
}

#[test]
fn streamed_message_is_not_repeated_and_a_missing_end_is_added() {
    let streamed = [delta("m", "Hel"), delta("m", "lo"), said("m", "Hello")];
    assert_eq!(texts(&told(&mut translator(EditorFeatures::default()), &streamed)), ["Hel", "lo"]);
    let cut = [delta("m", "Hel"), said("m", "Hello"), said("m", "Hello")];
    assert_eq!(texts(&told(&mut translator(EditorFeatures::default()), &cut)), ["Hel", "lo"]);
    let whole = [said("m", "Hello")];
    assert_eq!(texts(&told(&mut translator(EditorFeatures::default()), &whole)), ["Hello"]);
    let retracted = [delta("m", "Oops"), Event::Retracted { message_id: "m".to_owned() }, said("m", "Hello")];
    assert_eq!(texts(&told(&mut translator(EditorFeatures::default()), &retracted)), ["Oops", "Hello"]);
}

#[test]
fn call_is_announced_once_and_updated_later() {
    let mut translator = translator(EditorFeatures::default());
    let edit = json!({"file_path": "a.rs", "old_str": "1", "new_str": "2"});
    let updates = told(
        &mut translator,
        &[call("c", "Edit", json!({})), call("c", "Edit", edit.clone()), call("c", "Edit", edit)],
    );
    let kinds: Vec<_> = updates.iter().map(|update| &update["sessionUpdate"]).collect();
    assert_eq!(kinds, ["tool_call", "tool_call_update"]);
    assert_eq!((&updates[0]["title"], &updates[1]["title"]), (&json!("Edit"), &json!("Edit a.rs")));
    assert_eq!(updates[1]["content"][0]["path"], "/w/a.rs");
}

#[test]
fn command_output_grows_and_the_exit_code_sets_the_status() {
    for (last, status) in
        [("a\nb\n[Process exited with code 0]", "completed"), ("[Process exited with code 2]", "failed")]
    {
        let mut translator = translator(EditorFeatures::default());
        let run = call("c", "Execute", json!({"command": "make"}));
        let updates = told(
            &mut translator,
            &[run, progress("c", "a\n"), progress("c", "a\n"), progress("c", "a\nb\n")],
        );
        assert_eq!(updates.len(), 3, "the same output is not told twice");
        assert_eq!(updates[2]["content"][0]["content"]["text"], "```\na\nb\n```");
        let ended = translator.result("c", &ToolResultContent::from(last), false);
        let ended = serde_json::to_value(&ended[0]).unwrap();
        assert_eq!((&ended["status"], &ended["rawOutput"]), (&json!(status), &json!(last)));
        assert_eq!(
            translator.result("c", &ToolResultContent::from(last), false),
            [],
            "a second result is dropped"
        );
        assert_eq!(translator.close(), []);
    }
}

#[test]
fn editor_with_terminals_gets_only_new_output() {
    let mut translator = translator(EditorFeatures { terminal_output: true, ..EditorFeatures::default() });
    let run = call("c", "Execute", json!({"command": "make"}));
    let updates = told(&mut translator, &[run, progress("c", "a\n"), progress("c", "a\nb\n")]);
    assert_eq!(updates[0]["content"], json!([{"type": "terminal", "terminalId": "c"}]));
    assert_eq!(updates[0]["_meta"]["terminal_info"]["terminal_id"], "c");
    assert_eq!(updates[2]["_meta"]["terminal_output"]["data"], "b\n");
    let ended =
        translator.result("c", &ToolResultContent::from("a\nb\nc\n[Process exited with code 7]"), false);
    let ended = serde_json::to_value(&ended[0]).unwrap();
    assert_eq!(ended["_meta"]["terminal_output"]["data"], "c\n[Process exited with code 7]");
    assert_eq!(ended["_meta"]["terminal_exit"]["exit_code"], 7);
}

#[test]
fn open_calls_fail_at_the_end_of_a_turn() {
    let mut translator = translator(EditorFeatures::default());
    told(&mut translator, &[call("b", "Read", json!({})), call("a", "Read", json!({}))]);
    let closed = translator.close();
    let closed: Vec<_> = closed.iter().map(|update| serde_json::to_value(update).unwrap()).collect();
    assert_eq!(closed.iter().map(|update| &update["toolCallId"]).collect::<Vec<_>>(), ["a", "b"]);
    assert!(closed.iter().all(|update| update["status"] == "failed"));
    assert_eq!(translator.close(), []);
}

#[test]
fn todo_list_becomes_a_plan_and_not_a_call() {
    let todo = call("c", "TodoWrite", json!({"todos": "1. [pending] Look"}));
    let updates =
        told(&mut translator(EditorFeatures::default()), &[call("c", "TodoWrite", json!({})), todo]);
    assert_eq!(updates.len(), 1);
    assert_eq!(updates[0]["entries"][0]["content"], "Look");
}

#[test]
fn notices_are_sent_only_to_clients_that_can_show_them() {
    let error = || Event::HandlerFailed { reason: "too slow".to_owned() };
    assert_eq!(told(&mut translator(EditorFeatures::default()), &[error()]), Vec::<Value>::new());
    let can = EditorFeatures { notices: true, ..EditorFeatures::default() };
    assert_eq!(told(&mut translator(can), &[error()])[0]["description"], "too slow");
}

#[test]
fn history_replays_like_the_live_session() {
    let history = [
        message(json!({"id": "u", "role": "user", "content": [{"type": "text", "text": "Look"}]})),
        message(
            json!({"id": "context-1", "role": "user", "content": [{"type": "text", "text": "hidden"}], "visibility": "llm_only"}),
        ),
        message(json!({"id": "a", "role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c", "name": "Read", "input": {"file_path": "a.rs"}},
        ]})),
        message(
            json!({"id": "r", "role": "user", "content": [{"type": "tool_result", "toolUseId": "c", "content": "fn a() {}"}]}),
        ),
        message(
            json!({"id": "b", "role": "assistant", "content": [{"type": "tool_use", "id": "d", "name": "Read", "input": {}}]}),
        ),
    ];
    let updates = translator(EditorFeatures::default()).history(&history);
    let updates: Vec<_> = updates.iter().map(|update| serde_json::to_value(update).unwrap()).collect();
    let kinds: Vec<_> = updates.iter().map(|update| update["sessionUpdate"].as_str().unwrap()).collect();
    let expected = [
        "user_message_chunk",
        "agent_thought_chunk",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "tool_call",
        "tool_call_update",
    ];
    assert_eq!(kinds, expected);
    assert_eq!((&updates[4]["status"], &updates[6]["status"]), (&json!("completed"), &json!("failed")));
}

#[test]
fn diff_of_a_permission_request_survives_later_updates_of_the_call() {
    let mut translator = translator(EditorFeatures::default());
    let input = json!({"file_path": "/w/a", "old_str": "1", "new_str": "2"});
    let asked = json!({
        "toolUse": {"type": "tool_use", "id": "c", "name": "Edit", "input": input},
        "confirmationType": "edit",
        "details": {"type": "edit", "filePath": "/w/a", "fileName": "a", "oldContent": "1\n3\n", "newContent": "2\n3\n"},
    });
    let asked: PermissionToolUse = serde_json::from_value(asked).unwrap();
    // the question may come before the announcement, which is first made without an input
    translator.permission_request(&[asked]);
    let later = told(&mut translator, &[call("c", "Edit", json!({})), call("c", "Edit", input)]);
    assert_eq!(later, Vec::<Value>::new());
    let known = serde_json::to_value(&translator.calls["c"].shown.content).unwrap();
    assert_eq!((&known[0]["oldText"], &known[0]["newText"]), (&json!("1\n3\n"), &json!("2\n3\n")));
}

#[test]
fn command_in_an_editor_terminal_shows_only_the_terminal() {
    let mut translator = translator(EditorFeatures::default());
    told(&mut translator, &[call("c", "Execute", json!({"command": "ls"}))]);
    let begun = |terminal: &str| {
        let update =
            json!({"type": "tool_progress_update", "toolUseId": "c", "update": {"terminalId": terminal}});
        let SessionNotification::ToolProgressUpdate(update) = serde_json::from_value(update).unwrap() else {
            panic!("not a progress")
        };
        Event::ToolProgress(update)
    };
    assert_eq!(told(&mut translator, &[begun("the agent's own")]), Vec::<Value>::new());
    translator.opened_terminal("t".to_owned());
    let updates = told(&mut translator, &[begun("t"), begun("t")]);
    let terminal = json!([{"type": "terminal", "terminalId": "t"}]);
    assert_eq!(updates.len(), 1, "{updates:?}");
    assert_eq!((&updates[0]["content"], &updates[0]["status"]), (&terminal, &json!("in_progress")));
    let result = ToolResultContent::Text("a\n\n[Process exited with code 0]".to_owned());
    let updates = translator.result("c", &result, false);
    let update = serde_json::to_value(&updates[0]).unwrap();
    assert_eq!((&update["content"], &update["status"]), (&terminal, &json!("completed")));
}

#[test]
fn edited_plan_replaces_the_first() {
    let mut translator = translator(EditorFeatures::default());
    told(&mut translator, &[call("p", "ExitSpecMode", json!({"plan": "first"}))]);
    translator.edited_plan("p", "second");
    let result = ToolResultContent::Text("{}".to_owned());
    let update = serde_json::to_value(&translator.result("p", &result, false)[0]).unwrap();
    assert_eq!(
        update["content"],
        json!([{"type": "content", "content": {"type": "text", "text": "second"}}])
    );
    assert!(translator.edited_plan("unknown", "x").is_empty());
}

#[test]
fn missing_login_of_a_server_is_reported_once_until_the_user_has_logged_in() {
    let server = |needs: bool| -> Vec<McpServerInfo> {
        let servers = json!([{"name": "wiki", "status": "failed", "requiresAuth": needs}, {"name": "other", "status": "failed"}]);
        serde_json::from_value(servers).unwrap()
    };
    let can = EditorFeatures { notices: true, ..EditorFeatures::default() };
    let mut translator = translator(can).with_mcp_login(Some("musher mcp login".to_owned()));
    let updates = translator.servers(&server(true));
    let told = serde_json::to_value(&updates).unwrap();
    assert_eq!(updates.len(), 1, "{told}");
    assert_eq!(told[0]["title"], "The MCP server wiki needs a login");
    assert_eq!(told[0]["description"], "Run `musher mcp login wiki` in a terminal.");
    assert_eq!(translator.servers(&server(true)), []);
    assert_eq!(translator.servers(&server(false)), []);
    assert_eq!(translator.servers(&server(true)).len(), 1, "a login that was revoked");
    let without = EditorFeatures::default();
    assert_eq!(self::translator(without).servers(&server(true)), []);
}
