//! Calls during a session: interrupt, model, mode, thinking, restored files.

use musher_claude::{Call, Error, Handlers, Options, Permission, PermissionMode, UserMessage, View};
use musher_rehearse::{Reply, Script, when};
use serde_json::json;
use testkit::peers::Installed;

use super::stage::{Stage, on_both, soon};

on_both! {
    streaming_turn_is_interrupted, old_claude_streaming_turn_is_interrupted => interrupt_streaming;
    settings_change_during_a_session, old_claude_settings_change_during_a_session => settings;
    files_are_rewound, old_claude_files_are_rewound => rewind;
}

async fn interrupt_streaming(claude: Installed) -> anyhow::Result<()> {
    let endless = Reply::text("Once upon a time ").and_hang();
    let script = Script::new().reply(endless.when(when().prompt("story"))).otherwise(Reply::text("Yes."));
    let stage = Stage::new(claude, script)?;
    let options = Options::new().with_partial_messages();
    let (session, mut messages) = soon(stage.start(options, Handlers::new())).await?;
    session.interrupt().await?;
    session.send("Tell a story.").await?;
    soon(async {
        loop {
            if let View::StreamEvent(event) = messages.next().await?.view()
                && event.text_delta().is_some()
            {
                return Ok::<_, Error>(());
            }
        }
    })
    .await?;
    soon(session.interrupt()).await?;
    let result = soon(messages.until_result(|_| {})).await?;
    assert_eq!(result.subtype, "error_during_execution");
    session.send("Still there?").await?;
    let result = soon(messages.until_result(|_| {})).await?;
    assert_eq!(result.result.as_deref(), Some("Yes."));
    soon(session.close()).await?;
    stage.finish().await
}

async fn settings(claude: Installed) -> anyhow::Result<()> {
    let stage = Stage::new(claude, Script::new().otherwise(Reply::text("Yes.")))?;
    let (session, mut messages) = soon(stage.start(Options::new(), Handlers::new())).await?;
    session.set_model(Some("claude-haiku-4-5".to_owned())).await?;
    session.set_permission_mode(PermissionMode::Plan).await?;
    session.set_max_thinking_tokens(Some(2000)).await?;
    session.set_max_thinking_tokens(None).await?;
    assert_eq!(session.mcp_status().await?, []);
    session.send("Hello?").await?;
    let mut modes = Vec::new();
    let see = |message: &musher_claude::Message| {
        if let View::Init(init) = message.view() {
            modes.push((init.model, init.permission_mode));
        }
    };
    soon(messages.until_result(see)).await?;
    assert_eq!(modes, [("claude-haiku-4-5".to_owned(), "plan".to_owned())]);
    let calls = stage.model.calls();
    assert_eq!(calls.last().unwrap().body.as_ref().unwrap()["model"], "claude-haiku-4-5");
    let unknown =
        Call::Other { subtype: "no_such_thing".to_owned(), fields: musher_claude::Extra::default() };
    assert!(matches!(session.call(unknown).await, Err(Error::Refused { .. })));
    soon(session.close()).await?;
    stage.finish().await
}

async fn rewind(claude: Installed) -> anyhow::Result<()> {
    let stage = Stage::scripted(claude, |workspace| {
        let write = json!({"file_path": workspace.join("new.txt"), "content": "hello\n"});
        Script::new().reply(Reply::tool("Write", write).when(when().call(1))).otherwise(Reply::text("Done."))
    })?;
    let path = stage.sandbox.workspace().join("new.txt");
    let handlers = Handlers::new().on_permission(|_| async { Permission::allow() });
    let options = Options::new().with_file_checkpointing();
    let (session, mut messages) = soon(stage.start(options, handlers)).await?;
    let message = UserMessage::text("Write it.");
    let id = message.uuid().to_owned();
    session.send(message).await?;
    let mut told_back = Vec::new();
    let see = |message: &musher_claude::Message| {
        if let View::User(user) = message.view()
            && user.is_replay
        {
            told_back.extend(user.uuid);
        }
    };
    soon(messages.until_result(see)).await?;
    assert_eq!(told_back, [id.as_str()]);
    assert!(path.exists());
    let plan = session.rewind_files(&id, true).await?.to_value()?;
    assert_eq!(plan["canRewind"], true);
    assert!(path.exists(), "a dry run changes nothing");
    session.rewind_files(&id, false).await?;
    assert!(!path.exists());
    assert!(matches!(session.rewind_files("no-such-message", false).await, Err(Error::Refused { .. })));
    soon(session.close()).await?;
    stage.finish().await
}
