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

#[tokio::test]
async fn every_name_of_a_model_means_it_and_a_wrong_name_starts_no_session() -> Result<()> {
    names_of_models(false).await
}

#[tokio::test]
async fn every_name_of_a_model_means_it_and_a_wrong_name_starts_no_session_with_the_small_program()
-> Result<()> {
    names_of_models(true).await
}

async fn names_of_models(is_beside: bool) -> Result<()> {
    let script =
        Script::new().reply(Reply::text("Hi.").when(when().with_tools())).otherwise(Reply::text("A title"));
    let mut stage = Stage::with_vendor(script, is_beside)?;
    let engine = |model: &str| json!({"agent": "engine", "model": model});
    let names = [
        ("custom:Rehearsal-Chat-0", "rehearsal-chat"),
        ("custom:rehearsal-chat", "rehearsal-chat"),
        ("rehearsal-chat", "rehearsal-chat"),
        ("gpt-5.1", "gpt-5.1"),
        ("custom:gpt-5.1", "gpt-5.1"),
        ("openai/gpt-5.1", "gpt-5.1"),
        ("openai/brand-new", "brand-new"),
    ];
    let mut sessions = Vec::new();
    for (name, model) in names {
        let session = stage.app.create("Hello.", engine(name)).await?;
        let result = stage.app.message(&session, "result").await?;
        assert_eq!(result["result"], "Hi.", "{name}: {result}");
        assert_eq!(asked_last(&stage), model, "{name}");
        sessions.push((session, result["session_id"].clone()));
    }
    let app = &mut stage.app;
    let (session, stored) = sessions.remove(0);
    let resumed = |model: &str| json!({"agent": "engine", "model": model, "resume": stored});
    for name in ["custom:nope", "gpt-nope", "nowhere/gpt-5.1", "custom:nowhere/gpt-5.1"] {
        let id = app.ask_for_session("Hello.", engine(name)).await?;
        let refused = app.reply(&id).await?;
        assert_eq!(refused["payload"]["code"], "SESSION_CREATE_FAILED", "{name}: {refused}");
        let message = refused["payload"]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("unknown model `{name}`; available models: ")), "{message}");
        assert!(message.contains("custom:Rehearsal-Chat-0"), "{message}");
        // the small program cannot look up what its engine does not list
        if !(is_beside && name.starts_with("custom:")) {
            let id = app.ask_for_session("Hello.", resumed(name)).await?;
            let refused = app.reply(&id).await?;
            assert_eq!(refused["payload"]["code"], "SESSION_CREATE_FAILED", "{name}: {refused}");
            let refused = app.query(&session, "setModel", json!([name])).await?;
            assert_eq!(refused["success"], false, "{name}: {refused}");
        }
    }
    for (name, model) in names.into_iter().filter(|(name, _)| !is_beside || *name != "rehearsal-chat") {
        let changed = stage.app.query(&session, "setModel", json!([name])).await?;
        assert_eq!(changed["success"], true, "{name}: {changed}");
        stage.app.say(&session, "Again.").await?;
        let result = stage.app.message(&session, "result").await?;
        assert_eq!(
            (&result["result"], asked_last(&stage).as_str()),
            (&json!("Hi."), model),
            "{name}: {result}"
        );
    }
    let kill = stage.app.ask("session.kill", Some(&session), json!({})).await?;
    stage.app.reply(&kill).await?;
    let session = stage.app.create("Once more.", resumed("openai/brand-new")).await?;
    stage.app.message(&session, "result").await?;
    assert_eq!(asked_last(&stage), "brand-new");
    stage.finish().await
}

/// The model of the last call that was not for a title.
fn asked_last(stage: &Stage) -> String {
    let calls = stage.model.as_ref().unwrap().calls();
    let has_tools = |call: &&std::sync::Arc<musher_rehearse::RecordedRequest>| {
        call.call.as_ref().is_some_and(|call| !call.tools.is_empty())
    };
    let body = calls.iter().rfind(has_tools).unwrap().body.as_ref().unwrap();
    body["model"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn option_sandbox_confines_what_runs_without_asking() -> Result<()> {
    for (mode, sandbox, is_made) in [
        ("auto", json!({"enabled": true}), true),
        ("auto", json!({"enabled": true, "mode": "read-only"}), false),
        // the default of the level
        ("auto", json!({"enabled": false, "mode": "read-only"}), true),
        // allows everything else
        ("bypassPermissions", json!({"enabled": true}), true),
    ] {
        let arguments = json!({
            "command": "make", "summary": "Build", "timeout": 60,
            "riskLevel": "medium", "riskLevelReason": "for a test",
        });
        let on = |call: u32| when().with_tools().prompt("Build").call(call);
        let script = Script::new()
            .reply(Reply::tool("Execute", arguments).when(on(1)))
            .reply(Reply::text("Done.").when(on(2)))
            .otherwise(Reply::text("A title"));
        let mut stage = Stage::engine(script)?;
        let work = stage.sandbox.workspace();
        fs_err::write(work.join("Makefile"), "all:\n\techo x > made; echo x > ../escaped\n")?;
        let more = json!({
            "permission_mode": mode, "allow_dangerously_skip_permissions": true, "sandbox": sandbox.clone(),
        });
        let session = stage.app.create("Build.", options(more)).await?;
        // what fails in the sandbox is asked about, and says why
        let question = stage.app.callback(&session).await?;
        assert!(question.to_string().contains("failed in the sandbox"), "{sandbox}: {question}");
        stage.app.answer(&question, json!({"behavior": "deny"})).await?;
        stage.app.message(&session, "result").await?;
        let written = [work.join("made"), work.join("../escaped")].map(|path| path.exists());
        assert_eq!(written, [is_made, false], "{sandbox}: {:?}", stage.app.told);
        stage.finish().await?;
    }
    Ok(())
}
