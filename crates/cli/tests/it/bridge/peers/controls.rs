//! Interrupts and methods while a session lives.

use musher_rehearse::{Reply, Script, when};
use serde_json::{Value, json};
use testkit::peers::Installed;

use super::on_both;
use crate::bridge::stage::Stage;

on_both! {
    interrupts_idle_streaming_and_asking, old_claude_interrupts_idle_streaming_and_asking => interrupts;
    every_method_answers, old_claude_every_method_answers => methods;
}

async fn interrupts(claude: Installed) -> anyhow::Result<()> {
    let bash = json!({"command": "touch made.txt", "description": "makes a file"});
    let script = Script::new()
        .reply(Reply::text("Once upon a time ").and_hang().when(when().prompt("story")))
        .reply(Reply::tool("Bash", bash).when(when().prompt("file").call(1)))
        .otherwise(Reply::text("Done."));
    let mut stage = Stage::real(&claude, script, &[])?;
    let app = &mut stage.app;
    let session = app.create("", json!({"include_partial_messages": true})).await?;
    let idle = app.ask("session.interrupt", Some(&session), json!({})).await?;
    assert_eq!(app.reply(&idle).await?["type"], "session.interrupted");

    app.say(&session, "Tell a story.").await?;
    app.until("a piece of the story", |line| line.to_string().contains("Once upon")).await?;
    let streaming = app.ask("session.interrupt", Some(&session), json!({})).await?;
    assert_eq!(app.reply(&streaming).await?["type"], "session.interrupted");
    let result = app.message(&session, "result").await?;
    assert_eq!(result["subtype"], "error_during_execution", "its result follows the reply");

    app.say(&session, "Make a file.").await?;
    let question = app.callback(&session).await?;
    let asking = app.ask("session.interrupt", Some(&session), json!({})).await?;
    assert_eq!(app.reply(&asking).await?["type"], "session.interrupted");
    app.answer(&question, json!({"behavior": "allow"})).await?;
    let late = app.until("the answer to the late one", |line| line["id"] == question["id"]).await?;
    assert_eq!(late["payload"]["code"], "CALLBACK_NOT_FOUND");

    app.say(&session, "Still there?").await?;
    app.until("the next answer", |line| {
        line["payload"]["type"] == "result" && line["payload"]["result"] == "Done."
    })
    .await?;
    assert!(!stage.sandbox.workspace().join("made.txt").exists());
    stage.finish().await
}

async fn methods(claude: Installed) -> anyhow::Result<()> {
    let write = json!({"file_path": "made.txt", "content": "hello\n"});
    let script = Script::new()
        .reply(Reply::tool("Write", write).when(when().prompt("Write").call(1)))
        .otherwise(Reply::text("Done."));
    let mut stage = Stage::real(&claude, script, &[])?;
    let made = stage.sandbox.workspace().join("made.txt");
    let app = &mut stage.app;
    let options = json!({"enable_file_checkpointing": true, "permission_mode": "acceptEdits", "mcp_servers": {"broken": {"command": "/no"}}});
    let session = app.create("Write it.", options).await?;
    let prompt = app.until("the prompt, told back", |line| line["payload"]["isReplay"] == true).await?;
    let uuid = prompt["payload"]["uuid"].clone();
    app.message(&session, "result").await?;
    assert!(made.exists());

    for (method, is_list) in [
        ("supportedModels", true),
        ("supportedCommands", true),
        ("accountInfo", false),
        ("mcpServerStatus", true),
    ] {
        let result = app.query(&session, method, json!([])).await?;
        assert_eq!(result["success"], true);
        assert_eq!(result["result"].is_array(), is_list, "{method}: {result}");
        assert_eq!(result["result"].is_object(), !is_list, "{method}: {result}");
    }
    for (method, args) in [
        ("setModel", json!(["claude-haiku-4-5"])),
        ("setPermissionMode", json!(["plan"])),
        ("setMaxThinkingTokens", json!([2000])),
        ("setMaxThinkingTokens", json!([null])),
    ] {
        let result = app.query(&session, method, args).await?;
        assert_eq!(result, json!({"success": true, "result": null}), "{method}");
    }
    for (method, args) in [
        ("setPermissionMode", json!(["sometimes"])),
        ("rewindFiles", json!(["no-such-message"])),
        ("fly", json!([])),
    ] {
        let result = app.query(&session, method, args).await?;
        assert_eq!((&result["success"], &result["result"]), (&json!(false), &Value::Null), "{method}");
    }
    let plan = app.query(&session, "rewindFiles", json!([uuid, {"dry_run": true}])).await?;
    assert_eq!(plan["result"]["canRewind"], true);
    assert!(made.exists());
    let done = app.query(&session, "rewindFiles", json!([uuid])).await?;
    assert_eq!(done["success"], true, "{done}");
    assert!(!made.exists());

    app.say(&session, "Hello.").await?;
    app.message(&session, "result").await?;
    let init = app.told.iter().rfind(|line| line["payload"]["subtype"] == "init").unwrap();
    assert_eq!(
        (&init["payload"]["model"], &init["payload"]["permissionMode"]),
        (&json!("claude-haiku-4-5"), &json!("plan"))
    );
    stage.finish().await
}
