//! Hooks, seen as they begin and end.

use anyhow::Result;
use musher::wire::{HookEventName, SessionNotification};
use musher::{Autonomy, Event, HookProgress};
use serde_json::{Value, json};
use testkit::Sandbox;
use testkit::rehearse::{Reply, Script};

use crate::Target;
use crate::stage::{execute, on, soon};

fn add_hooks(sandbox: &Sandbox) -> Result<()> {
    let path = sandbox.home().join(".factory/settings.json");
    let mut settings: Value = serde_json::from_str(&fs_err::read_to_string(&path)?)?;
    let hook = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let tool_hook =
        |command: &str| json!([{"matcher": "Execute", "hooks": [{"type": "command", "command": command}]}]);
    settings["hooks"] = json!({
        "SessionStart": hook("echo started"),
        "UserPromptSubmit": hook("echo prompted"),
        "PreToolUse": tool_hook("echo before; echo careful >&2"),
        "PostToolUse": tool_hook("echo after"),
        "Stop": hook("echo stopped; exit 1"),
    });
    Ok(fs_err::write(path, settings.to_string())?)
}

pub(crate) async fn hooks_are_seen_as_they_begin_and_end(target: &dyn Target) -> Result<()> {
    let script = Script::new()
        .reply(execute("ls", "low").when(on("List", 1)))
        .reply(Reply::text("Done.").when(on("List", 2)));
    let stage = target.stage(script)?;
    add_hooks(stage.sandbox())?;
    let (session, early) = stage.session().autonomy(Autonomy::High).open_watched().await?;
    let mut ended = early.only("hook_execution_completed");
    let first = soon("the first hook", ended.next()).await?.expect("the session lives").session()?;
    let SessionNotification::HookExecutionCompleted(hook) = first.notification else { panic!("{first:?}") };
    assert_eq!(hook.hook_event_name, HookEventName::SessionStart);
    drop(ended);

    let mut turn = session.send("List the files.").start().await?;
    let mut seen = Vec::new();
    while let Some(event) = turn.next().await {
        let Event::Hook(hook) = event? else { continue };
        if hook.event == HookEventName::PreToolUse {
            assert!(hook.tool_call_id.is_some());
            assert_eq!(hook.matcher.as_deref(), Some("Execute"));
        }
        seen.push(match hook.status {
            HookProgress::Started { .. } => format!("{} begins", hook.event.as_str()),
            HookProgress::Ended { exit_code, stdout, stderr, .. } => {
                format!("{} {exit_code:?} {stdout:?} {stderr:?}", hook.event.as_str())
            }
            _ => "unknown".to_owned(),
        });
    }
    let expected = [
        "UserPromptSubmit begins",
        "UserPromptSubmit Some(0) \"prompted\\n\" \"\"",
        "PreToolUse begins",
        "PreToolUse Some(0) \"before\\n\" \"careful\\n\"",
        "PostToolUse begins",
        "PostToolUse Some(0) \"after\\n\" \"\"",
        "Stop begins",
        "Stop Some(1) \"stopped\\n\" \"\"",
    ];
    assert_eq!(seen, expected);
    session.close().await?;
    stage.finish().await
}
