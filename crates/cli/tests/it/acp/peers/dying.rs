//! An agent whose process dies.

use musher_rehearse::{Reply, Script};
use serde_json::json;

use crate::acp::stage::{Stage, Who, execute, on, text_of};

pub(crate) async fn a_prompt_can_be_cancelled_while_the_agent_starts_again(who: &Who) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(Reply::text("I will.").when(on("remember", 1)))
        .reply(Reply::text("It was mango.").when(on("which", 1)));
    let mut stage = Stage::new(who, script)?;
    let session = stage.editor.open(json!({})).await?;
    stage.editor.turn(&session, "remember the word mango").await?;
    stage.kill_agents()?;
    let starting = stage.editor.prompt(&session, "hello?").await?;
    stage.editor.notify("session/cancel", json!({"sessionId": session})).await?;
    assert_eq!(stage.editor.done(starting).await?["result"]["stopReason"], "cancelled");
    let (reason, updates) = stage.editor.turn(&session, "which word was it?").await?;
    assert_eq!((&*reason, &*text_of(&updates, "agent_message_chunk")), ("end_turn", "It was mango."));
    stage.finish().await
}

pub(crate) async fn an_agent_that_dies_fails_its_prompt_and_comes_back_with_the_history(
    who: &Who,
) -> anyhow::Result<()> {
    let script = Script::new()
        .reply(Reply::text("I will.").when(on("remember", 1)))
        .reply(execute("sleep 60", "low").when(on("wait", 1)))
        .reply(Reply::text("It was mango.").when(on("which", 1)));
    let mut stage = Stage::new(who, script)?;
    let session = stage.editor.open(json!({})).await?;
    stage.editor.turn(&session, "remember the word mango").await?;
    let mode = json!({"sessionId": session, "modeId": "auto-high"});
    stage.editor.call("session/set_mode", mode).await?;
    let waiting = stage.editor.prompt(&session, "wait").await?;
    let running = |line: &serde_json::Value| line["update"]["update"]["status"] == "in_progress";
    stage.editor.until("the running command", running).await?;
    stage.kill_agents()?;
    let failed = stage.editor.done(waiting).await?;
    assert_eq!(failed["error"]["code"], -32603, "{failed}");
    let (reason, updates) = stage.editor.turn(&session, "which word was it?").await?;
    assert_eq!((&*reason, &*text_of(&updates, "agent_message_chunk")), ("end_turn", "It was mango."));
    let asked = stage.model().calls();
    let last = asked
        .iter()
        .rfind(|call| call.body.as_ref().is_some_and(|body| body.to_string().contains("which word")));
    assert!(last.unwrap().body.as_ref().unwrap().to_string().contains("remember the word mango"));
    stage.finish().await
}
