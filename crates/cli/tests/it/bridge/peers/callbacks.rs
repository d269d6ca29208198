//! Callbacks: tools that are allowed, denied and interrupted, hooks that block, answers that come too late.

use musher_rehearse::{Reply, Script, when};
use serde_json::json;
use testkit::peers::Installed;

use super::on_both;
use crate::bridge::stage::Stage;

on_both! {
    tools_are_allowed_and_denied, old_claude_tools_are_allowed_and_denied => decisions;
    a_hook_blocks, old_claude_a_hook_blocks => hook;
    one_session_waits_and_the_other_works, old_claude_one_session_waits_and_the_other_works => interleaved;
    a_late_answer_is_refused, old_claude_a_late_answer_is_refused => late;
}

/// Every message is answered with one command, and then with a word.
fn runs_a_command() -> Script {
    let bash = json!({"command": "touch made.txt", "description": "makes a file"});
    Script::new()
        .reply(Reply::tool("Bash", bash).when(when().prompt("file").call(1)))
        .otherwise(Reply::text("Done."))
}

async fn decisions(claude: Installed) -> anyhow::Result<()> {
    let mut stage = Stage::real(&claude, runs_a_command(), &[])?;
    let made = stage.sandbox.workspace().join("made.txt");
    let app = &mut stage.app;

    let session = app.create("Make a file.", json!({})).await?;
    let question = app.callback(&session).await?;
    assert_eq!(question["payload"]["callback_type"], "can_use_tool");
    assert_eq!(question["payload"]["tool_name"], "Bash");
    assert_eq!(question["payload"]["tool_input"]["command"], "touch made.txt");
    assert!(question["payload"]["suggestions"].is_array() && question["payload"]["tool_use_id"].is_string());
    app.answer(&question, json!({"behavior": "deny", "message": "not in this house"})).await?;
    let result = app.message(&session, "result").await?;
    assert_eq!(
        (&result["subtype"], &result["permission_denials"][0]["tool_name"]),
        (&json!("success"), &json!("Bash"))
    );
    assert!(app.told.iter().any(|line| line.to_string().contains("not in this house")));
    assert!(!made.exists());

    let session = app.create("Make a file.", json!({})).await?;
    let question = app.callback(&session).await?;
    app.answer(&question, json!({"behavior": "deny", "message": "stop", "interrupt": true})).await?;
    let result = app.message(&session, "result").await?;
    assert_eq!(
        (&result["subtype"], &result["terminal_reason"]),
        (&json!("error_during_execution"), &json!("aborted_tools"))
    );
    assert!(!made.exists());

    let session = app.create("Make a file.", json!({})).await?;
    let question = app.callback(&session).await?;
    app.answer(&question, json!({"behavior": "allow"})).await?;
    let result = app.message(&session, "result").await?;
    assert_eq!(result["permission_denials"], json!([]));
    assert!(made.exists(), "allowed without an input of ours");

    let session = app.create("Make a file.", json!({})).await?;
    let question = app.callback(&session).await?;
    let other = json!({"command": "touch other.txt", "description": "another file"});
    let permissions = question["payload"]["suggestions"].clone();
    app.answer(
        &question,
        json!({"behavior": "allow", "updated_input": other, "updated_permissions": permissions}),
    )
    .await?;
    app.message(&session, "result").await?;
    assert!(stage.sandbox.workspace().join("other.txt").exists(), "the input of ours counts");
    stage.finish().await
}

async fn hook(claude: Installed) -> anyhow::Result<()> {
    let mut stage = Stage::real(&claude, runs_a_command(), &[])?;
    let app = &mut stage.app;
    let session = app.create("Make a file.", json!({"hooks": {"PreToolUse": [{"matcher": "Bash"}]}})).await?;
    let question = app.callback(&session).await?;
    let payload = &question["payload"];
    assert_eq!((&payload["callback_type"], &payload["hook_event"]), (&json!("hook"), &json!("PreToolUse")));
    assert_eq!(payload["hook_input"]["tool_input"]["command"], "touch made.txt");
    let decision = json!({"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "the hook minds"});
    app.answer(&question, json!({"hook_specific_output": decision})).await?;
    app.message(&session, "result").await?;
    assert!(
        app.told
            .iter()
            .any(|line| line["payload"]["type"] == "user" && line.to_string().contains("the hook minds"))
    );
    assert!(!stage.sandbox.workspace().join("made.txt").exists());
    stage.finish().await
}

async fn interleaved(claude: Installed) -> anyhow::Result<()> {
    let mut stage = Stage::real(&claude, runs_a_command(), &[])?;
    let app = &mut stage.app;
    let blocked = app.create("Make a file.", json!({})).await?;
    let question = app.callback(&blocked).await?;
    let free = app.create("Hello.", json!({})).await?;
    assert_eq!(app.message(&free, "result").await?["result"], "Done.");
    app.say(&free, "Again.").await?;
    app.message(&free, "result").await?;
    app.answer(&question, json!({"behavior": "allow"})).await?;
    app.message(&blocked, "result").await?;
    stage.finish().await
}

async fn late(claude: Installed) -> anyhow::Result<()> {
    let mut stage = Stage::real(&claude, runs_a_command(), &["--callback-timeout", "1"])?;
    let app = &mut stage.app;
    let session = app.create("Make a file.", json!({})).await?;
    let question = app.callback(&session).await?;
    assert_eq!(app.error("CALLBACK_TIMEOUT").await?["id"], question["id"]);
    app.answer(&question, json!({"behavior": "allow"})).await?;
    let late = app
        .until("the answer to the late one", |line| line["payload"]["code"] == "CALLBACK_NOT_FOUND")
        .await?;
    assert_eq!(late["id"], question["id"]);
    if !app.told.iter().any(|line| line["payload"]["type"] == "result") {
        app.message(&session, "result").await?;
    }
    assert!(!stage.sandbox.workspace().join("made.txt").exists());
    stage.finish().await
}
