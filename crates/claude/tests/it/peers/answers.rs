//! Answers of the host: permissions, hooks, and in-process tools.

use std::sync::{Arc, Mutex};

use musher_claude::{Handlers, HookOutput, Options, Permission, ToolServer};
use musher_rehearse::{Reply, Script, when};
use serde_json::json;
use testkit::peers::Installed;

use super::stage::{Stage, on_both, soon};

on_both! {
    allowed_tool_runs, old_claude_allowed_tool_runs => allowed;
    denied_tool_does_not_run, old_claude_denied_tool_does_not_run => denied;
    denial_with_interrupt_ends_the_turn, old_claude_denial_with_interrupt_ends_the_turn => denied_and_interrupted;
    hook_blocks_a_tool, old_claude_hook_blocks_a_tool => hooked;
    in_process_tool_is_called, old_claude_in_process_tool_is_called => own_tool;
}

fn touches(path: &str) -> Script {
    let bash = json!({"command": format!("touch {path}"), "description": "makes a file"});
    Script::new().reply(Reply::tool("Bash", bash).when(when().call(1))).otherwise(Reply::text("Done."))
}

async fn allowed(claude: Installed) -> anyhow::Result<()> {
    let stage = Stage::new(claude, touches("made.txt"))?;
    let handlers = Handlers::new().on_permission(|request| async move {
        assert_eq!(request.tool_name, "Bash");
        Permission::allow()
    });
    let (session, mut messages) = soon(stage.start(Options::new(), handlers)).await?;
    session.send("Make a file.").await?;
    let result = soon(messages.until_result(|_| {})).await?;
    assert_eq!(result.permission_denials, []);
    assert!(stage.sandbox.workspace().join("made.txt").exists());
    soon(session.close()).await?;
    stage.finish().await
}

async fn denied(claude: Installed) -> anyhow::Result<()> {
    let stage = Stage::new(claude, touches("made.txt"))?;
    let handlers = Handlers::new().on_permission(|_| async { Permission::deny("not in this house") });
    let (session, mut messages) = soon(stage.start(Options::new(), handlers)).await?;
    session.send("Make a file.").await?;
    let mut text = String::new();
    let result = soon(messages.until_result(|message| text += message.text())).await?;
    assert_eq!((result.subtype.as_str(), result.permission_denials.len()), ("success", 1));
    assert!(text.contains("not in this house"));
    assert!(!stage.sandbox.workspace().join("made.txt").exists());
    soon(session.close()).await?;
    stage.finish().await
}

async fn denied_and_interrupted(claude: Installed) -> anyhow::Result<()> {
    let stage = Stage::new(claude, touches("made.txt"))?;
    let handlers = Handlers::new()
        .on_permission(|_| async { Permission::Deny { message: "stop".to_owned(), interrupt: Some(true) } });
    let (session, mut messages) = soon(stage.start(Options::new(), handlers)).await?;
    session.send("Make a file.").await?;
    let result = soon(messages.until_result(|_| {})).await?;
    assert_eq!(result.subtype, "error_during_execution");
    assert_eq!(result.terminal_reason.as_deref(), Some("aborted_tools"));
    soon(session.close()).await?;
    stage.finish().await
}

async fn hooked(claude: Installed) -> anyhow::Result<()> {
    let stage = Stage::new(claude, touches("made.txt"))?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&seen);
    let handlers = Handlers::new()
        .on_permission(|_| async { Permission::allow() })
        .on_hook("UserPromptSubmit", None, move |request| {
            note.lock().unwrap().push(request.input.to_value().unwrap()["prompt"].clone());
            async { HookOutput::default() }
        })
        .on_hook("PreToolUse", Some("Bash"), |request| async move {
            assert_eq!(request.event, "PreToolUse");
            let output = json!({
                "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "the hook minds"
            });
            HookOutput { hook_specific_output: Some(output.into()), ..HookOutput::default() }
        });
    let (session, mut messages) = soon(stage.start(Options::new(), handlers)).await?;
    session.send("Make a file.").await?;
    let mut text = String::new();
    soon(messages.until_result(|message| text += message.text())).await?;
    assert_eq!(*seen.lock().unwrap(), [json!("Make a file.")]);
    assert!(text.contains("the hook minds"));
    assert!(!stage.sandbox.workspace().join("made.txt").exists());
    soon(session.close()).await?;
    stage.finish().await
}

async fn own_tool(claude: Installed) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(Reply::tool("mcp__numbers__add", json!({"a": 2, "b": 40})).when(when().call(1)))
        .otherwise(Reply::text("Done."));
    let stage = Stage::new(claude, script)?;
    let schema = json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}});
    let server = ToolServer::new("numbers").tool("add", "Adds", schema, |arguments| async move {
        Ok(format!("sum={}", arguments["a"].as_i64().unwrap() + arguments["b"].as_i64().unwrap()))
    });
    let handlers = Handlers::new().on_permission(|_| async { Permission::allow() }).mcp_server(server);
    let (session, mut messages) = soon(stage.start(Options::new(), handlers)).await?;
    session.send("Add.").await?;
    let mut text = String::new();
    soon(messages.until_result(|message| text += message.text())).await?;
    assert!(text.contains("sum=42"), "{text}");
    let status = session.mcp_status().await?;
    let status = status.iter().map(|it| it.to_value().unwrap()).find(|it| it["name"] == "numbers").unwrap();
    assert_eq!(status["status"], "connected");
    soon(session.close()).await?;
    stage.finish().await
}
