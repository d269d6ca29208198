//! Requests of droid: tools, plans, and questions to the user.

use anyhow::Result;
use musher_rehearse::{Reply, Script};
use serde_json::json;
use testkit::peers::DROID;
use testkit::require_peer;

use super::{execute, on, options};
use crate::bridge::stage::Stage;

fn touches(words: &[&str]) -> Script {
    words.iter().fold(Script::new(), |script, word| {
        script
            .reply(execute(&format!("touch {word}.txt")).when(on(&format!("Make {word}"), 1)))
            .reply(Reply::text("Made.").when(on(&format!("Make {word}"), 2)))
    })
}

#[tokio::test]
async fn tool_runs_when_it_is_allowed_and_only_then() -> Result<()> {
    let mut stage = Stage::droid(&require_peer!(DROID), touches(&["yes", "no", "other", "again"]), &[])?;
    let made = stage.sandbox.workspace();
    let app = &mut stage.app;
    let session = app.create("Make yes.", options(json!({}))).await?;
    let question = app.callback(&session).await?;
    let payload = &question["payload"];
    assert_eq!(
        (&payload["callback_type"], &payload["tool_name"]),
        (&json!("can_use_tool"), &json!("Execute"))
    );
    assert_eq!(payload["tool_input"]["command"], "touch yes.txt");
    let call = app.told.iter().rfind(|line| line["payload"]["type"] == "assistant").unwrap();
    assert_eq!(
        call["payload"]["message"]["content"][0]["id"], payload["tool_use_id"],
        "told before it is asked"
    );
    app.answer(&question, json!({"behavior": "allow", "updated_input": payload["tool_input"]})).await?;
    let answer = app.message(&session, "user").await?;
    let block = &answer["message"]["content"][0];
    assert_eq!((&block["type"], &block["tool_use_id"]), (&json!("tool_result"), &payload["tool_use_id"]));
    let result = app.message(&session, "result").await?;
    assert_eq!((&result["result"], &result["num_turns"]), (&json!("Made."), &json!(2)));
    assert!(made.join("yes.txt").exists());

    app.say(&session, "Make no.").await?;
    let question = app.callback(&session).await?;
    app.answer(&question, json!({"behavior": "deny", "message": "Not in this project"})).await?;
    let result = app.message(&session, "result").await?;
    assert_eq!((&result["subtype"], &result["is_error"]), (&json!("success"), &json!(false)));
    assert_eq!(result["permission_denials"][0]["tool_input"]["command"], "touch no.txt");

    app.say(&session, "Make other.").await?;
    let question = app.callback(&session).await?;
    app.answer(&question, json!({"behavior": "allow", "updated_input": {"command": "touch no.txt"}})).await?;
    assert_eq!(
        app.error("SDK_ERROR").await?["id"],
        question["id"],
        "it cannot be carried out as it was answered"
    );
    app.message(&session, "result").await?;
    assert!(!made.join("no.txt").exists() && !made.join("other.txt").exists());

    app.say(&session, "Make again.").await?;
    let question = app.callback(&session).await?;
    let rule = json!([{
        "type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}], "behavior": "allow",
        "destination": "session"
    }]);
    app.answer(&question, json!({"behavior": "allow", "updated_permissions": rule})).await?;
    app.message(&session, "result").await?;
    fs_err::remove_file(made.join("yes.txt"))?;
    app.say(&session, "Make yes.").await?;
    let before = app.told.len();
    app.message(&session, "result").await?;
    assert!(app.told[before..].iter().all(|line| line["type"] != "callback.request"), "it is allowed now");
    assert!(made.join("yes.txt").exists());
    stage.finish().await
}

#[tokio::test]
async fn question_to_the_user_is_answered_by_the_app() -> Result<()> {
    let questions = "1. [question] Which colour?\n[topic] Colour\n[option] Red\n[option] Blue\n";
    let script = Script::new()
        .reply(Reply::tool("AskUser", json!({"questionnaire": questions})).when(on("Paint", 1)))
        .reply(Reply::text("Painted.").when(on("Paint", 2)));
    let mut stage = Stage::droid(&require_peer!(DROID), script, &[])?;
    let app = &mut stage.app;
    let session = app.create("Paint it.", options(json!({}))).await?;
    let question = app.callback(&session).await?;
    let payload = &question["payload"];
    assert_eq!(payload["tool_name"], "AskUserQuestion");
    let mut input = payload["tool_input"].clone();
    assert_eq!(
        input["questions"],
        json!([{
            "question": "Which colour?", "header": "Colour", "multiSelect": false,
            "options": [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]
        }])
    );
    input["answers"] = json!({"Which colour?": "Blue"});
    app.answer(&question, json!({"behavior": "allow", "updated_input": input})).await?;
    let answer = app.message(&session, "user").await?;
    assert!(answer.to_string().contains("[answer] Blue"), "{answer}");
    assert_eq!(app.message(&session, "result").await?["result"], "Painted.");
    stage.finish().await
}

#[tokio::test]
async fn plan_is_approved_and_the_mode_is_reported() -> Result<()> {
    let script = Script::new()
        .reply(
            Reply::tool("ExitSpecMode", json!({"plan": "# Plan\n1. Do it.\n", "title": "Do it"}))
                .when(on("Plan", 1)),
        )
        .reply(Reply::text("Done.").when(on("Plan", 2)));
    let mut stage = Stage::droid(&require_peer!(DROID), script, &[])?;
    let app = &mut stage.app;
    let session = app.create("Plan it.", options(json!({"permission_mode": "plan"}))).await?;
    let question = app.callback(&session).await?;
    assert_eq!(question["payload"]["tool_name"], "ExitPlanMode");
    assert_eq!(question["payload"]["tool_input"]["plan"], "# Plan\n1. Do it.\n");
    let freely = json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]);
    app.answer(&question, json!({"behavior": "allow", "updated_permissions": freely})).await?;
    assert_eq!(app.message(&session, "result").await?["result"], "Done.");
    let modes: Vec<_> =
        app.told.iter().filter_map(|line| line["payload"]["permissionMode"].as_str()).collect();
    assert_eq!((modes.first(), modes.last()), (Some(&"plan"), Some(&"acceptEdits")), "{modes:?}");
    stage.finish().await
}

#[tokio::test]
async fn tools_that_are_forbidden_are_not_offered_to_the_model() -> Result<()> {
    let script = Script::new().reply(Reply::text("Hi.").when(on("Hello", 1)));
    let mut stage = Stage::droid(&require_peer!(DROID), script, &[])?;
    for (wish, is_there) in
        [(json!({"disallowed_tools": ["Bash"]}), [false, true]), (json!({"tools": ["Bash"]}), [true, false])]
    {
        let session = stage.app.create("Hello.", options(wish.clone())).await?;
        stage.app.message(&session, "result").await?;
        let calls = stage.model.as_ref().unwrap().calls();
        let calls: Vec<_> = calls.iter().filter_map(|call| call.call.as_ref()).collect();
        let tools = &calls.iter().rfind(|call| !call.tools.is_empty()).unwrap().tools;
        let names = format!("{tools:?}");
        assert_eq!(
            ["Execute", "Read"].map(|name| names.contains(&format!("\"{name}\""))),
            is_there,
            "{wish}: {names}"
        );
    }
    stage.finish().await
}
