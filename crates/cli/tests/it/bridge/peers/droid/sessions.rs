//! Sessions with droid: streamed text, resuming, structured output, limits, settings.

use anyhow::Result;
use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};
use testkit::peers::DROID;
use testkit::require_peer;

use super::{execute, on, options};
use crate::bridge::stage::{App, Stage};

/// The id to resume the session with that was created last.
fn sdk_session_id(app: &App) -> Value {
    let created = app.told.iter().rfind(|line| line["type"] == "session.created").unwrap();
    created["payload"]["sdk_session_id"].clone()
}

async fn kill(app: &mut App, session: &str) -> Result<()> {
    let id = app.ask("session.kill", Some(session), json!({})).await?;
    assert_eq!(app.reply(&id).await?["type"], "session.killed");
    Ok(())
}

#[tokio::test]
async fn text_turn_in_pieces_looks_like_one_of_the_claude_cli() -> Result<()> {
    let script = Script::new().reply(Reply::text("Hello there friend.").when(on("Greet", 1)));
    let mut stage = Stage::droid(&require_peer!(DROID), script, &[])?;
    let app = &mut stage.app;
    let session = app.create("Greet me.", options(json!({"include_partial_messages": true}))).await?;
    let result = app.message(&session, "result").await?;
    assert_eq!((&result["subtype"], &result["result"]), (&json!("success"), &json!("Hello there friend.")));
    assert_eq!((&result["num_turns"], &result["is_error"]), (&json!(1), &json!(false)));
    assert!(
        result["usage"]["output_tokens"].as_u64().unwrap() > 0 && result["duration_ms"].as_u64().is_some()
    );
    assert_eq!(result["session_id"], sdk_session_id(app));
    let messages: Vec<_> = app.told.iter().filter(|line| line["type"] == "sdk.message").collect();
    let messages: Vec<_> = messages.into_iter().map(|line| &line["payload"]).collect();
    let init = messages[0];
    assert_eq!((&init["type"], &init["subtype"]), (&json!("system"), &json!("init")));
    assert_eq!(
        (&init["permissionMode"], &init["cwd"]),
        (&json!("default"), &json!(stage.sandbox.workspace()))
    );
    assert!(init["tools"].as_array().unwrap().contains(&json!("Execute")));
    let events: Vec<_> = messages.iter().filter_map(|it| it["event"]["type"].as_str()).collect();
    let mut kinds = events.clone();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    let text: String = messages.iter().filter_map(|it| it["event"]["delta"]["text"].as_str()).collect();
    assert_eq!(text, "Hello there friend.");
    for message in &messages {
        assert!(message["uuid"].is_string() && message["session_id"].is_string(), "{message}");
    }
    stage.finish().await
}

#[tokio::test]
async fn session_is_resumed_later_and_as_a_fork() -> Result<()> {
    let script = Script::new()
        .reply(Reply::text("Noted.").when(on("amber", 1)))
        .reply(Reply::text("Amber.").when(on("Which", 1)));
    let mut stage = Stage::droid(&require_peer!(DROID), script, &[])?;
    let app = &mut stage.app;
    let session = app.create("The word is amber.", options(json!({}))).await?;
    let first = sdk_session_id(app);
    app.message(&session, "result").await?;
    kill(app, &session).await?;
    for (more, is_same) in
        [(json!({"resume": first}), true), (json!({"resume": first, "fork_session": true}), false)]
    {
        let session = app.create("Which word?", options(more)).await?;
        assert_eq!(sdk_session_id(app) == first, is_same);
        let result = app.message(&session, "result").await?;
        assert_eq!((&result["result"], &result["session_id"]), (&json!("Amber."), &sdk_session_id(app)));
        let calls = stage.model.as_ref().unwrap().calls();
        let asked: Vec<_> = calls.iter().filter_map(|call| Some(call.body.as_ref()?.to_string())).collect();
        let asked = asked.iter().rfind(|body| body.contains("Which word?")).unwrap();
        assert!(asked.contains("The word is amber."), "it remembers");
        kill(app, &session).await?;
    }
    let unknown = options(json!({"resume": "00000000-0000-4000-8000-000000000000"}));
    let id = app.ask_for_session("Hello?", unknown).await?;
    let error = app.reply(&id).await?;
    assert_eq!(error["payload"]["code"], "SESSION_CREATE_FAILED");
    assert_eq!(error["payload"]["details"]["phase"], "initialize");
    stage.finish().await
}

#[tokio::test]
async fn answer_in_a_form_is_an_object_in_the_result() -> Result<()> {
    let script = Script::new()
        .reply(Reply::text("{\"number\": 7}").when(on("seven", 1)))
        .reply(Reply::text("no form at all").when(on("badly", 1)))
        .reply(Reply::text("no form at all").when(on("badly", 2)))
        .reply(Reply::text("no form at all").when(on("badly", 3)));
    let mut stage = Stage::droid(&require_peer!(DROID), script, &[])?;
    let app = &mut stage.app;
    let schema =
        json!({"type": "object", "properties": {"number": {"type": "number"}}, "required": ["number"]});
    let form = json!({"output_format": {"type": "json_schema", "schema": schema}});
    let session = app.create("Say seven.", options(form)).await?;
    let result = app.message(&session, "result").await?;
    assert_eq!(
        (&result["subtype"], &result["structured_output"]),
        (&json!("success"), &json!({"number": 7}))
    );
    app.say(&session, "Say it badly.").await?;
    let result = app.message(&session, "result").await?;
    assert_eq!(result["subtype"], "error_max_structured_output_retries", "{result}");
    stage.finish().await
}

#[tokio::test]
async fn messages_during_a_turn_wait_and_max_turns_is_enforced() -> Result<()> {
    let script = Script::new()
        .reply(Reply::tool("LS", json!({"directory_path": "/"})).when(on("endless", 1)))
        .reply(Reply::tool("LS", json!({"directory_path": "/tmp"})).when(on("endless", 2)))
        // so late that the limit comes first
        .reply(Reply::text("Never said.").delay_ms(60_000, 0).when(on("endless", 3)))
        .reply(Reply::text("Second.").when(on("second", 1)));
    let mut stage = Stage::droid(&require_peer!(DROID), script, &[])?;
    let app = &mut stage.app;
    let session = app.create("Do endless work.", options(json!({"max_turns": 2}))).await?;
    app.say(&session, "Say second.").await?;
    let result = app.message(&session, "result").await?;
    assert_eq!(
        (&result["subtype"], &result["num_turns"]),
        (&json!("error_max_turns"), &json!(2)),
        "{result}"
    );
    let result = app.message(&session, "result").await?;
    assert_eq!((&result["subtype"], &result["result"]), (&json!("success"), &json!("Second.")));
    stage.finish().await
}

#[tokio::test]
async fn queries_are_answered_or_refused_with_a_reason() -> Result<()> {
    let script = Script::new().reply(Reply::text("Hi.").when(on("Hello", 1)));
    let mut stage = Stage::droid(&require_peer!(DROID), script, &[])?;
    let app = &mut stage.app;
    let session = app.create("", options(json!({}))).await?;
    let models = app.query(&session, "supportedModels", json!([])).await?;
    let names: Vec<_> =
        models["result"].as_array().unwrap().iter().map(|it| it["displayName"].clone()).collect();
    assert!(names.contains(&json!("Rehearsal Anthropic")), "{names:?}");
    assert!(app.query(&session, "supportedCommands", json!([])).await?["result"].is_array());
    assert_eq!(app.query(&session, "mcpServerStatus", json!([])).await?["result"], json!([]));
    for (method, args) in [
        ("accountInfo", json!([])),
        ("setMaxThinkingTokens", json!([100])),
        ("setModel", json!(["no-such-model"])),
        ("setPermissionMode", json!(["bypassPermissions"])),
    ] {
        let refused = app.query(&session, method, args).await?;
        assert!(refused["success"] == false && refused["error"].is_string(), "{method}: {refused}");
    }
    assert_eq!(app.query(&session, "setPermissionMode", json!(["acceptEdits"])).await?["success"], true);
    let status = app.told.iter().rfind(|line| line["payload"]["subtype"] == "status").unwrap();
    assert_eq!(status["payload"]["permissionMode"], "acceptEdits");
    let other = testkit::droid::ANTHROPIC_MODEL;
    assert_eq!(app.query(&session, "setModel", json!([other])).await?["success"], true);
    app.say(&session, "Hello.").await?;
    app.message(&session, "result").await?;
    let init = app.told.iter().rfind(|line| line["payload"]["subtype"] == "init").unwrap();
    assert_eq!(
        (&init["payload"]["permissionMode"], &init["payload"]["model"]),
        (&json!("acceptEdits"), &json!(other))
    );
    stage.finish().await
}

#[tokio::test]
async fn files_go_back_to_where_they_were() -> Result<()> {
    let script = Script::new()
        .reply(execute("echo new > made.txt").when(on("Make", 1)))
        .reply(Reply::text("Made.").when(on("Make", 2)));
    let mut stage = Stage::droid(&require_peer!(DROID), script, &[])?;
    let app = &mut stage.app;
    let wishes = json!({"enable_file_checkpointing": true, "permission_mode": "bypassPermissions"});
    let session = app.create("Make it.", options(wishes)).await?;
    app.message(&session, "result").await?;
    assert!(stage.sandbox.workspace().join("made.txt").exists(), "nothing had to be asked");
    let echo = app.told.iter().find(|line| line["payload"]["isReplay"] == true).unwrap();
    let user_message = echo["payload"]["uuid"].clone();
    // the agent keeps copies of what its file tools change, not of what commands do
    let answer = app.query(&session, "rewindFiles", json!([user_message, {"dry_run": true}])).await?;
    assert_eq!(
        (&answer["success"], &answer["result"]["canRewind"]),
        (&json!(true), &json!(false)),
        "{answer}"
    );
    stage.finish().await
}
