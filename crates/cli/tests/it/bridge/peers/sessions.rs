//! Sessions: from the first prompt to the result, resumed, refused, and with every option.

use musher_rehearse::{Reply, Script, when};
use serde_json::json;
use testkit::peers::Installed;

use super::on_both;
use crate::bridge::stage::Stage;

on_both! {
    a_prompt_has_a_result_and_can_be_resumed, old_claude_a_prompt_has_a_result_and_can_be_resumed => resume;
    unusable_sessions_are_refused, old_claude_unusable_sessions_are_refused => refused;
    every_option_is_taken, old_claude_every_option_is_taken => options;
    five_megabytes_reach_the_cli, old_claude_five_megabytes_reach_the_cli => long_prompt;
}

async fn resume(claude: Installed) -> anyhow::Result<()> {
    let mut stage = Stage::real(&claude, Script::new().otherwise(Reply::text("Noted.")), &[])?;
    let app = &mut stage.app;
    let session = app.create("The word is amber.", json!({})).await?;
    let sdk_session_id = app.told[0]["payload"]["sdk_session_id"].clone();
    let result = app.message(&session, "result").await?;
    assert_eq!((&result["subtype"], &result["result"]), (&json!("success"), &json!("Noted.")));
    assert_eq!(result["session_id"], sdk_session_id);
    let kinds: Vec<_> = app.told.iter().map(|line| line["payload"]["type"].clone()).collect();
    assert!(kinds.contains(&json!("system")) && kinds.contains(&json!("assistant")));
    app.say(&session, "And a second one.").await?;
    app.message(&session, "result").await?;
    let kill = app.ask("session.kill", Some(&session), json!({})).await?;
    assert_eq!(app.reply(&kill).await?["type"], "session.killed");

    for (options, is_same) in [
        (json!({"resume": sdk_session_id}), true),
        (json!({"resume": sdk_session_id, "fork_session": true}), false),
    ] {
        let session = app.create("Which word?", options).await?;
        let created = app.told.iter().rfind(|line| line["type"] == "session.created").unwrap();
        assert_eq!(created["payload"]["sdk_session_id"] == sdk_session_id, is_same);
        let told = created["payload"]["sdk_session_id"].clone();
        assert_eq!(app.message(&session, "result").await?["session_id"], told);
        let calls = stage.model.as_ref().unwrap().calls();
        let asked = calls.last().unwrap().body.as_ref().unwrap()["messages"].to_string();
        assert!(asked.contains("The word is amber."));
        let kill = app.ask("session.kill", Some(&session), json!({})).await?;
        app.reply(&kill).await?;
    }
    stage.finish().await
}

async fn refused(claude: Installed) -> anyhow::Result<()> {
    let mut stage = Stage::real(&claude, Script::new().otherwise(Reply::text("Noted.")), &[])?;
    let mut bad = vec![json!({"resume": "00000000-0000-4000-8000-000000000000"})];
    if rustix::process::geteuid().is_root() {
        bad.push(json!({"permission_mode": "bypassPermissions"}));
    }
    if claude.peer.version != "2.1.197" {
        // the older one runs without a schema instead
        bad.push(json!({"output_format": {"type": "json_schema", "schema": {"type": 7}}}));
    }
    for options in bad {
        let id = stage.app.ask_for_session("Hello?", options.clone()).await?;
        let error = stage.app.reply(&id).await?;
        assert_eq!(error["payload"]["code"], "SESSION_CREATE_FAILED", "{options}: {error}");
        let details = &error["payload"]["details"];
        assert_eq!(
            (&details["phase"], &details["exit_code"]),
            (&json!("initialize"), &json!(1)),
            "{options}: {error}"
        );
        assert_eq!(error.get("session_id"), None);
    }
    let session = stage.app.create("Hello?", json!({})).await?;
    stage.app.message(&session, "result").await?;
    assert!(
        !stage.app.told.iter().any(|line| line["type"] == "sdk.message" && line["session_id"] != session)
    );
    stage.finish().await
}

async fn options(claude: Installed) -> anyhow::Result<()> {
    let answer = json!({"color": "blue"});
    let script = Script::new()
        .reply(
            Reply::tool("StructuredOutput", answer.clone()).when(when().offers("StructuredOutput").call(1)),
        )
        .otherwise(Reply::text("Done."));
    let mut stage = Stage::real(&claude, script, &[])?;
    let other = stage.sandbox.home().join("other");
    fs_err::create_dir(&other)?;
    let options = json!({
        "model": "claude-haiku-4-5", "fallback_model": "claude-sonnet-4-5", "permission_mode": "acceptEdits",
        "allowed_tools": ["Read"], "disallowed_tools": ["WebFetch"], "system_prompt": "You are a lamp.",
        "max_turns": 5, "max_budget_usd": 5.5, "max_thinking_tokens": 1024, "include_partial_messages": true,
        "enable_file_checkpointing": true, "additional_directories": [other],
        "mcp_servers": {"broken": {"command": "/no/such/server", "args": ["-x"], "env": {"A": "b"}}},
        "agents": {"helper": {"description": "Helps", "prompt": "Help.", "tools": ["Read"], "model": "inherit"}},
        "hooks": {"UserPromptSubmit": [{}]}, "sandbox": {"enabled": false, "auto_allow_bash_if_sandboxed": true},
        "setting_sources": ["user"], "betas": [],
        "output_format": {"type": "json_schema", "schema": {
            "type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}},
        "strict_mcp_config": true, "surprise": true
    });
    let app = &mut stage.app;
    let session = app.create("Which color?", options).await?;
    let hook = app.callback(&session).await?;
    assert_eq!(hook["payload"]["callback_type"], "hook");
    assert_eq!(hook["payload"]["hook_input"]["prompt"], "Which color?");
    app.answer(&hook, json!({})).await?;
    let result = app.message(&session, "result").await?;
    assert_eq!(result["structured_output"], answer);
    let init = app.told.iter().find(|line| line["payload"]["subtype"] == "init").unwrap()["payload"].clone();
    assert_eq!(
        (&init["model"], &init["permissionMode"]),
        (&json!("claude-haiku-4-5"), &json!("acceptEdits"))
    );
    assert!(init["agents"].to_string().contains("helper"), "{}", init["agents"]);
    assert!(init["mcp_servers"].to_string().contains("broken"));
    assert!(app.told.iter().any(|line| line["payload"]["type"] == "stream_event"));
    assert!(
        app.told.iter().any(|line| line["payload"]["isReplay"] == true),
        "the prompt is echoed with its id"
    );
    let calls = stage.model.as_ref().unwrap().calls();
    let body = calls[0].body.as_ref().unwrap();
    assert!(body["system"].to_string().contains("You are a lamp."));
    let ended = stage.app.program.end().await?;
    assert!(ended.stderr.contains("surprise"), "{}", ended.stderr);
    stage.model.take().unwrap().shutdown().await;
    stage.sandbox.finish().await
}

async fn long_prompt(claude: Installed) -> anyhow::Result<()> {
    let mut stage = Stage::real(&claude, Script::new().otherwise(Reply::text("Noted.")), &[])?;
    let long = "word ".repeat(1_000_000);
    let session = stage.app.create(&long, json!({"enable_file_checkpointing": true})).await?;
    let told_back = stage
        .app
        .until("the prompt, told back", |line| {
            line["session_id"] == session && line["payload"]["isReplay"] == true
        })
        .await?;
    let content = told_back["payload"]["message"]["content"].to_string();
    assert!(content.len() >= long.len(), "{} bytes arrived", content.len());
    stage.app.message(&session, "result").await?;
    stage.finish().await
}
