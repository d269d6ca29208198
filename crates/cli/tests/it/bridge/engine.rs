//! The engine with a scripted model: in the bridge's own process, and in `musher` beside the small program.

use anyhow::Result;
use musher_rehearse::{Reply, Script, when};
use serde_json::{Value, json};

use super::stage::{Stage, eventually};

fn options(more: Value) -> Value {
    let Value::Object(more) = more else { panic!("not an object") };
    let mut options = json!({"agent": "engine", "model": testkit::droid::CHAT_MODEL});
    for (name, value) in more {
        options[name] = value;
    }
    options
}

#[tokio::test]
async fn session_with_the_engine_is_like_one_with_any_agent() -> Result<()> {
    // git, which reports the uncommitted changes, has a guard
    greets(Stage::engine, &["musher bridge", "musher-guard"]).await
}

#[tokio::test]
async fn session_with_the_engine_of_another_program_is_the_same() -> Result<()> {
    // the guard of the bridge ends the engine if the bridge cannot
    greets(Stage::engine_beside, &["musher-bridge", "musher exec", "musher-guard", "musher-guard"]).await
}

async fn greets(stage: fn(Script) -> Result<Stage>, programs: &[&str]) -> Result<()> {
    let script = Script::new()
        .reply(Reply::text("Hello from inside.").when(when().prompt("Greet")))
        .otherwise(Reply::text("A title"));
    let mut stage = stage(script)?;
    let app = &mut stage.app;
    let session = app.create("Greet me.", options(json!({"include_partial_messages": true}))).await?;
    let first = app.told[0]["payload"]["sdk_session_id"].clone();
    let result = app.message(&session, "result").await?;
    assert_eq!(
        (&result["subtype"], &result["result"]),
        (&json!("success"), &json!("Hello from inside.")),
        "{result}"
    );
    assert_eq!(result["session_id"], first);
    let messages: Vec<_> = app.told.iter().map(|line| &line["payload"]).collect();
    let text: String = messages.iter().filter_map(|it| it["event"]["delta"]["text"].as_str()).collect();
    assert_eq!(text, "Hello from inside.");
    assert!(messages.iter().any(|it| it["type"] == "assistant") && messages[1]["subtype"] == "init");
    let running: Vec<_> = stage.sandbox.processes().into_iter().map(|it| it.command).collect();
    assert_eq!(running.len(), programs.len(), "nothing else runs: {running:?}");
    for program in programs {
        assert!(running.iter().any(|command| command.contains(program)), "{program} in {running:?}");
    }
    let app = &mut stage.app;
    let idle = app.ask("session.interrupt", Some(&session), json!({})).await?;
    assert_eq!(app.reply(&idle).await?["type"], "session.interrupted");
    let kill = app.ask("session.kill", Some(&session), json!({})).await?;
    assert_eq!(app.reply(&kill).await?["type"], "session.killed");

    let session = app.create("Greet me again.", options(json!({"resume": first}))).await?;
    let result = app.message(&session, "result").await?;
    assert_eq!((&result["result"], &result["session_id"]), (&json!("Hello from inside."), &first));
    let calls = stage.model.as_ref().unwrap().calls();
    let asked: Vec<_> = calls.iter().filter_map(|call| Some(call.body.as_ref()?.to_string())).collect();
    assert!(
        asked.iter().any(|body| body.contains("Greet me.") && body.contains("Greet me again.")),
        "it remembers"
    );
    stage.finish().await
}

#[tokio::test]
async fn engine_asks_before_a_tool_runs() -> Result<()> {
    asks(Stage::engine).await
}

#[tokio::test]
async fn engine_of_another_program_asks_before_a_tool_runs() -> Result<()> {
    asks(Stage::engine_beside).await
}

async fn asks(stage: fn(Script) -> Result<Stage>) -> Result<()> {
    let execute = |file: &str| {
        let arguments = json!({
            "command": format!("touch {file}"), "summary": "Make it", "timeout": 60,
            "riskLevel": "medium", "riskLevelReason": "for a test",
        });
        Reply::tool("Execute", arguments)
    };
    let on = |word: &str, call: u32| when().with_tools().prompt(word).call(call);
    let script = Script::new()
        .reply(execute("yes.txt").when(on("Make yes", 1)))
        .reply(Reply::text("Made.").when(on("Make yes", 2)))
        .reply(execute("no.txt").when(on("Make no", 1)))
        .reply(Reply::text("Never.").when(on("Make no", 2)))
        .otherwise(Reply::text("A title"));
    let mut stage = stage(script)?;
    let made = stage.sandbox.workspace();
    let app = &mut stage.app;
    let session = app.create("Make yes.", options(json!({}))).await?;
    let question = app.callback(&session).await?;
    assert_eq!(question["payload"]["tool_input"]["command"], "touch yes.txt");
    app.answer(&question, json!({"behavior": "allow"})).await?;
    let answer = app.message(&session, "user").await?;
    assert_eq!(answer["message"]["content"][0]["tool_use_id"], question["payload"]["tool_use_id"]);
    let result = app.message(&session, "result").await?;
    assert_eq!((&result["result"], &result["num_turns"]), (&json!("Made."), &json!(2)), "{result}");
    app.say(&session, "Make no.").await?;
    let question = app.callback(&session).await?;
    app.answer(&question, json!({"behavior": "deny"})).await?;
    let result = app.message(&session, "result").await?;
    assert_eq!(
        result["permission_denials"][0]["tool_use_id"], question["payload"]["tool_use_id"],
        "{result}"
    );
    assert!(made.join("yes.txt").exists() && !made.join("no.txt").exists());
    stage.finish().await
}

#[tokio::test]
async fn killed_session_leaves_nothing_that_its_commands_have_started() -> Result<()> {
    // it holds on to nothing of ours
    let arguments = json!({
        "command": "setsid sleep 1000 <&- >&- 2>&- &", "summary": "Leave it", "timeout": 60,
        "riskLevel": "medium", "riskLevelReason": "for a test",
    });
    let on = |call: u32| when().with_tools().prompt("Leave it").call(call);
    let script = Script::new()
        .reply(Reply::tool("Execute", arguments).when(on(1)))
        .reply(Reply::text("Left.").when(on(2)))
        .otherwise(Reply::text("A title"));
    let mut stage = Stage::engine(script)?;
    let session = stage.app.create("Leave it.", options(json!({}))).await?;
    let question = stage.app.callback(&session).await?;
    stage.app.answer(&question, json!({"behavior": "allow"})).await?;
    stage.app.message(&session, "result").await?;
    let sleeps = |stage: &Stage| stage.sandbox.processes().iter().any(|it| it.command.starts_with("sleep"));
    eventually("it sleeps", || sleeps(&stage)).await;
    let kill = stage.app.ask("session.kill", Some(&session), json!({})).await?;
    assert_eq!(stage.app.reply(&kill).await?["type"], "session.killed");
    assert!(!sleeps(&stage), "every process of the session is gone");
    stage.finish().await
}
