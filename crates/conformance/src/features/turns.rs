//! Turns: text, tools, permission.

use anyhow::Result;
use musher::{Decision, Event, StoppedBy, TurnEnd};
use serde_json::json;
use testkit::rehearse::{Reply, Script, when};

use crate::Target;

pub(crate) fn writes_a_file() -> Script {
    let command = json!({
        "command": "echo made > made.txt", "summary": "Write a file", "timeout": 10,
        "riskLevel": "medium", "riskLevelReason": "it writes a file",
    });
    Script::new()
        .reply(Reply::tool("Execute", command).when(when().with_tools().call(1)))
        .reply(Reply::text("Done.").when(when().with_tools().call(2)))
}

pub(crate) async fn a_permitted_command_runs_and_the_turn_completes(target: &dyn Target) -> Result<()> {
    let stage = target.stage(writes_a_file())?;
    let session = stage.session().on_permission_sync(|_| Decision::allow_once()).open().await?;
    let mut turn = session.send("Write a file.").partial().start().await?;
    let mut seen = Vec::new();
    while let Some(event) = turn.next().await {
        match event? {
            Event::ToolCall(call) => seen.push(format!("call {}", call.name)),
            Event::ToolResult(result) => {
                seen.push(format!("result of {}", result.tool_name.unwrap_or_default()));
            }
            Event::Assistant(message) => seen.push(format!("assistant {:?}", message.text())),
            Event::Result(result) => {
                assert_eq!(result.end, TurnEnd::Completed);
                assert_eq!(result.text, "Done.");
                assert!(result.usage.is_some());
                seen.push("end".to_owned());
            }
            _ => {}
        }
    }
    assert_eq!(seen, ["call Execute", "assistant \"\"", "result of Execute", "assistant \"Done.\"", "end"]);
    assert!(stage.sandbox().workspace().join("made.txt").exists());
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn without_a_handler_permission_is_refused_and_the_turn_says_so(target: &dyn Target) -> Result<()> {
    let stage = target.stage(writes_a_file())?;
    let session = stage.session().open().await?;
    let result = session.send("Write a file.").await?;
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Denied));
    assert!(!stage.sandbox().workspace().join("made.txt").exists());
    session.close().await?;
    stage.finish().await
}
