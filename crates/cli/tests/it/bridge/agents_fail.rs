//! Agents that crash, babble or keep silent: the app gets an error, and other sessions continue.

use serde_json::json;

use super::stage::Stage;

#[tokio::test]
async fn agent_that_exits_is_reported_with_its_code_and_last_stderr_lines() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[])?;
    let app = &mut stage.app;
    let other = app.create("", json!({})).await?;
    for (prompt, key, expected) in [("say bye\nexit 7", "exit_code", 7), ("say bye\ndie", "signal", 9)] {
        let session = app.create(prompt, json!({})).await?;
        let error = app.error("SDK_ERROR").await?;
        assert_eq!((&error["session_id"], error.get("id")), (&json!(session), None));
        assert_eq!(error["payload"]["details"][key], expected, "{error}");
        assert!(error["payload"]["details"]["stderr"].as_str().unwrap().contains("fake agent"));
        let before = app.told.iter().rev().nth(1).unwrap();
        assert_eq!(before["payload"]["text"], "bye", "what it said comes first");
        let send = app.say(&session, "hello?").await?;
        assert_eq!(app.reply(&send).await?["payload"]["code"], "SESSION_NOT_FOUND");
    }
    app.say(&other, "say fine").await?;
    app.message(&other, "said").await?;
    stage.finish().await
}

#[tokio::test]
async fn open_requests_of_a_dying_session_are_answered_once() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[])?;
    let app = &mut stage.app;
    let session = app.create("silent", json!({})).await?;
    app.message(&session, "silent").await?;
    let interrupt = app.ask("session.interrupt", Some(&session), json!({})).await?;
    let query = app.ask("query.call", Some(&session), json!({"method": "mcpServerStatus"})).await?;
    app.say(&session, "exit 1").await?;
    app.until("the exit", |line| line["type"] == "error" && line.get("id").is_none()).await?;
    let code_of = |id: &str| {
        let replies: Vec<_> = app.told.iter().filter(|line| line["id"] == id).collect();
        assert_eq!(replies.len(), 1, "{id}");
        replies[0]["payload"]["code"].clone()
    };
    assert_eq!((code_of(&interrupt), code_of(&query)), (json!("SDK_ERROR"), json!("QUERY_METHOD_FAILED")));
    stage.finish().await
}

#[tokio::test]
async fn lines_that_are_not_messages_are_skipped_or_reported_and_the_stream_continues() -> anyhow::Result<()>
{
    let mut stage = Stage::fake(&[], &[])?;
    let app = &mut stage.app;
    let session = app.create("raw debug text\nraw {\"type\":\nunknown\nsay on", json!({})).await?;
    let error = app.error("SDK_ERROR").await?;
    assert_eq!((&error["session_id"], error.get("id")), (&json!(session), None));
    app.until("the next word", |line| line["payload"]["text"] == "on").await?;
    let answered = app.message(&session, "answered").await?;
    assert_eq!(answered["response"]["subtype"], "error", "an unknown request is not left open");
    let ended = stage.app.program.end().await?;
    assert!(ended.stderr.contains("debug text") && ended.stderr.contains("elicitation"), "{}", ended.stderr);
    stage.sandbox.finish().await
}

#[tokio::test]
async fn agent_that_exits_at_once_or_is_not_there_is_no_session() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[("FAKE_EXIT", "3")])?;
    let id = stage.app.ask_for_session("p", json!({})).await?;
    let error = stage.app.reply(&id).await?;
    assert_eq!((&error["payload"]["code"], error.get("session_id")), (&json!("SESSION_CREATE_FAILED"), None));
    let details = &error["payload"]["details"];
    assert_eq!((&details["phase"], &details["exit_code"]), (&json!("initialize"), &json!(3)));
    assert!(details["stderr"].as_str().unwrap().contains("fake agent"));
    stage.finish().await?;

    let mut stage = Stage::fake(&[], &[])?;
    fs_err::remove_file(stage.sandbox.home().join("claude"))?;
    let id = stage.app.ask_for_session("p", json!({})).await?;
    let error = stage.app.reply(&id).await?;
    assert_eq!(error["payload"]["code"], "SESSION_CREATE_FAILED");
    assert_eq!(error["payload"]["details"], json!({"phase": "spawn"}));
    stage.finish().await
}

#[tokio::test]
async fn agent_that_is_not_ready_in_time_is_ended_whichever_it_is() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&["--agent-timeout", "1"], &[("FAKE_NEVER_READY", "1")])?;
    let deaf = stage.sandbox.home().join("droid");
    fs_err::write(&deaf, "#!/bin/sh\nexec cat > /dev/null\n")?;
    fs_err::set_permissions(&deaf, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    for agent in ["claude", "droid"] {
        let id = stage.app.ask_for_session("p", json!({"agent": agent})).await?;
        let error = stage.app.reply(&id).await?;
        assert_eq!(error["payload"]["code"], "SESSION_CREATE_FAILED", "{error}");
        assert_eq!(error["payload"]["details"], json!({"phase": "initialize"}), "{error}");
        assert!(error["payload"]["message"].as_str().unwrap().contains("timed out after 1s"), "{error}");
    }
    stage.finish().await
}

#[tokio::test]
async fn call_that_is_not_answered_in_time_is_given_up() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&["--agent-timeout", "1"], &[])?;
    let app = &mut stage.app;
    let session = app.create("silent", json!({})).await?;
    app.message(&session, "silent").await?;
    let query = app.ask("query.call", Some(&session), json!({"method": "mcpServerStatus"})).await?;
    assert_eq!(app.reply(&query).await?["payload"]["code"], "QUERY_METHOD_FAILED");
    stage.finish().await
}
