//! Everything an app can do wrong gets an answer, and the bridge continues.

use serde_json::{Value, json};

use super::stage::Stage;

#[tokio::test]
async fn thousand_lines_of_garbage_and_then_a_good_session() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[])?;
    let garbage =
        ["rubbish", "{", "[]", "{}", "\u{fffd}", "{\"type\":\"x\"}", "null", "{\"type\":\"session.kill\"}"];
    for number in 0..1000 {
        stage.app.program.send_line(garbage[number % garbage.len()]).await?;
    }
    let session = stage.app.create("say hello", json!({})).await?;
    assert_eq!(stage.app.message(&session, "said").await?["text"], "hello");
    let errors = stage.app.told.iter().filter(|line| line["payload"]["code"] == "INVALID_MESSAGE").count();
    assert_eq!(errors, 1000);
    stage.finish().await
}

#[tokio::test]
async fn bytes_that_are_not_text_and_endless_lines_are_reported_and_skipped() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[])?;
    // a file as input, because the app's side of a test writes text only
    let path = stage.sandbox.home().join("input");
    let mut input = b"\xff\xfe\x00\n\r\n   \n".to_vec();
    input.extend(std::iter::repeat_n(b'x', 64 * 1024 * 1024 + 1));
    input.extend(b"\n\xef\xbb\xbf{\"type\":\"session.kill\",\"id\":\"k\",\"session_id\":\"none\"}\r\n");
    fs_err::write(&path, input)?;
    let shell = format!("exec {} bridge < {}", env!("CARGO_BIN_EXE_musher"), path.display());
    let launch = stage.sandbox.launch("sh").args(["-c", &shell]);
    let ended = stage.sandbox.output(&launch).await?;
    assert_eq!(ended.status.code(), Some(0));
    let lines: Vec<Value> = ended.stdout.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let codes: Vec<_> = lines.iter().map(|line| line["payload"]["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["INVALID_MESSAGE", "INVALID_MESSAGE", "SESSION_NOT_FOUND"]);
    assert_eq!((&lines[2]["id"], &lines[2]["session_id"]), (&json!("k"), &json!("none")));
    let hello = stage.app.create("say still here", json!({})).await?;
    stage.app.message(&hello, "said").await?;
    stage.finish().await
}

#[tokio::test]
async fn unknown_sessions_and_callbacks_are_errors() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[])?;
    let app = &mut stage.app;
    for kind in ["session.send", "session.interrupt", "session.kill", "callback.response", "query.call"] {
        let id = app.ask(kind, Some("unknown"), json!({"message": "m", "method": "supportedModels"})).await?;
        let error = app.error("SESSION_NOT_FOUND").await?;
        assert_eq!((&error["id"], &error["session_id"]), (&json!(id), &json!("unknown")), "{kind}");
    }
    let other = app.create("", json!({})).await?;
    let one = app.create("ask", json!({})).await?;
    let question = app.callback(&one).await?;
    app.ask("callback.response", Some(&one), json!({"behavior": "allow"})).await?;
    app.error("CALLBACK_NOT_FOUND").await?;
    // the id of another session
    let mut elsewhere = question.clone();
    elsewhere["session_id"] = json!(other);
    app.answer(&elsewhere, json!({"behavior": "allow"})).await?;
    let error = app.error("CALLBACK_NOT_FOUND").await?;
    assert_eq!((&error["id"], &error["session_id"]), (&question["id"], &json!(other)));
    // an invalid answer leaves it open
    app.answer(&question, json!({"behavior": "perhaps"})).await?;
    assert_eq!(app.error("INVALID_MESSAGE").await?["payload"]["details"]["path"], "behavior");
    app.answer(&question, json!({"behavior": "allow", "updated_input": 7})).await?;
    assert_eq!(app.error("INVALID_MESSAGE").await?["payload"]["details"]["path"], "updated_input");
    app.answer(&question, json!({"behavior": "allow"})).await?;
    let answered = app.message(&one, "answered").await?;
    let expected = json!({"behavior": "allow", "updatedInput": {"command": "ls"}});
    assert_eq!(answered["response"]["response"], expected);
    app.answer(&question, json!({"behavior": "allow"})).await?;
    app.error("CALLBACK_NOT_FOUND").await?;
    // methods
    for (method, args) in [("fly", json!([])), ("setPermissionMode", json!(["sometimes"]))] {
        let result = app.query(&one, method, args).await?;
        assert_eq!((&result["success"], &result["result"]), (&json!(false), &Value::Null));
        assert!(result["error"].is_string());
    }
    // a killed session is gone
    let kill = app.ask("session.kill", Some(&one), json!({})).await?;
    assert_eq!(app.reply(&kill).await?["type"], "session.killed");
    let again = app.ask("session.kill", Some(&one), json!({})).await?;
    assert_eq!(app.reply(&again).await?["payload"]["code"], "SESSION_NOT_FOUND");
    stage.finish().await
}

#[tokio::test]
async fn session_that_cannot_be_is_refused_and_no_process_is_started() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[])?;
    let app = &mut stage.app;
    let id = app.ask_for_session("p", json!({"max_turns": "many", "surprise": 1})).await?;
    let error = app.reply(&id).await?;
    assert_eq!(error["payload"]["code"], "INVALID_MESSAGE");
    assert_eq!(error["payload"]["details"], json!({"path": "options.max_turns", "expected": "u64"}));
    for options in [
        json!({"max_budget_usd": 0}),
        json!({"agent": "droid", "hooks": {"Stop": [{}]}}),
        json!({"agent": "engine", "max_budget_usd": 1}),
    ] {
        let id = app.ask_for_session("p", options).await?;
        let error = app.reply(&id).await?;
        assert_eq!(error["payload"]["code"], "SESSION_CREATE_FAILED");
        assert_eq!(error["payload"]["details"], json!({"phase": "validate"}));
        assert_eq!(error.get("session_id"), None);
    }
    let payload = json!({"prompt": "p", "cwd": "/no/such/folder"});
    let id = app.ask("session.create", None, payload).await?;
    assert_eq!(app.reply(&id).await?["payload"]["code"], "SESSION_CREATE_FAILED");
    let agents = stage.sandbox.processes().into_iter().filter(|it| it.command.contains("python")).count();
    assert_eq!(agents, 0);
    stage.finish().await
}
