//! Sessions: options, commands, plans, and coming back to them.

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};

use super::stage;
use crate::acp::stage::{execute, on, text_of};

#[tokio::test]
async fn modes_and_options_are_offered_changed_and_reported() -> anyhow::Result<()> {
    let mut stage = stage!(Script::new());
    let editor = &mut stage.editor;
    editor.hello(json!({})).await?;
    let opened = editor.call("session/new", json!({"cwd": editor.cwd, "mcpServers": []})).await?;
    let session = opened["sessionId"].clone();
    let ids: Vec<_> =
        opened["modes"]["availableModes"].as_array().unwrap().iter().map(|mode| mode["id"].clone()).collect();
    assert_eq!(ids, ["spec", "normal", "auto-low", "auto-medium", "auto-high"]);
    let categories: Vec<_> =
        opened["configOptions"].as_array().unwrap().iter().map(|option| option["category"].clone()).collect();
    assert_eq!(categories[..2], ["mode", "model"]);
    editor.call("session/set_mode", json!({"sessionId": session, "modeId": "auto-medium"})).await?;
    let models = opened["configOptions"][1]["options"].as_array().unwrap();
    let current = &opened["configOptions"][1]["currentValue"];
    let other = models.iter().find(|model| model["value"] != *current).unwrap()["value"].clone();
    let change = json!({"sessionId": session, "configId": "model", "value": other});
    let changed = editor.call("session/set_config_option", change).await?;
    let value = |id: &str| {
        let options = changed["configOptions"].as_array().unwrap();
        options.iter().find(|option| option["id"] == id).unwrap()["currentValue"].clone()
    };
    assert_eq!((value("mode"), value("model")), (json!("auto-medium"), other), "{models:?}");
    // the old way to choose the model
    let old = json!({"sessionId": session, "modelId": current});
    editor.call("session/set_model", old).await?;
    for (method, params) in [
        ("session/set_mode", json!({"sessionId": session, "modeId": "yolo"})),
        ("session/set_config_option", json!({"sessionId": session, "configId": "model", "value": "none"})),
        ("session/set_config_option", json!({"sessionId": session, "configId": "colour", "value": "red"})),
    ] {
        assert_eq!(editor.refused(method, params).await?["code"], -32602);
    }
    let updates = editor.updates(0);
    let told = |kind: &str| updates.iter().filter(|update| update["sessionUpdate"] == kind).count();
    assert_eq!((told("current_mode_update"), told("config_option_update")), (1, 3), "{updates:#?}");
    stage.finish().await
}

#[tokio::test]
async fn a_to_do_list_is_the_plan_and_commands_of_ours_are_carried_out() -> anyhow::Result<()> {
    let todos = json!({"todos": "1. [completed] Look\n2. [in_progress] Leap"});
    let script = Script::new()
        .reply(Reply::tool("TodoWrite", todos).when(on("plan", 1)))
        .reply(Reply::text("So far.").when(on("plan", 2)))
        .reply(Reply::text("So far.").when(on("plan", 3)));
    let mut stage = stage!(script);
    let session = stage.editor.open(json!({})).await?;
    let commands = stage.editor.update("available_commands_update").await?;
    let names: Vec<_> = commands["availableCommands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| command["name"].clone())
        .collect();
    for name in ["compact", "context", "mode", "model", "sessions", "status", "help"] {
        assert!(names.contains(&json!(name)), "{name} in {names:?}");
    }
    let (_, updates) = stage.editor.turn(&session, "plan").await?;
    let plan = updates.iter().find(|update| update["sessionUpdate"] == "plan").unwrap();
    let entries: Vec<_> = plan["entries"].as_array().unwrap().iter().map(|entry| &entry["status"]).collect();
    assert_eq!(entries, ["completed", "in_progress"]);
    assert!(updates.iter().all(|update| update["sessionUpdate"] != "tool_call"), "a plan is no tool call");

    let asked = stage.model().calls().len();
    for (command, answer) in [
        ("/help", "/compact"),
        ("/context", "tokens are used"),
        ("/mode spec", "now `spec`"),
        ("/status", "`spec`"),
        ("/model", "(current)"),
    ] {
        let (reason, updates) = stage.editor.turn(&session, command).await?;
        let text = text_of(&updates, "agent_message_chunk");
        assert!(reason == "end_turn" && text.contains(answer), "{command}: {text}");
    }
    assert_eq!(stage.model().calls().len(), asked, "no model is needed for that");
    stage.finish().await
}

#[tokio::test]
async fn a_session_is_listed_loaded_with_its_history_resumed_forked_and_closed() -> anyhow::Result<()> {
    let script = Script::new()
        .reply(execute("echo seen", "low").when(on("look", 1)))
        .reply(Reply::text("I saw it.").when(on("look", 2)))
        .reply(Reply::text("Yes.").when(on("sure", 1)));
    let mut stage = stage!(script);
    let session = stage.editor.open(json!({})).await?;
    let mode = json!({"sessionId": session, "modeId": "auto-high"});
    stage.editor.call("session/set_mode", mode).await?;
    let embedded =
        json!({"type": "resource", "resource": {"uri": "file:///notes.txt", "text": "a secret note"}});
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "look at "}, embedded]});
    stage.editor.call("session/prompt", prompt).await?;
    let asked = stage
        .model()
        .calls()
        .iter()
        .filter_map(|call| call.body.clone())
        .map(|body| body.to_string())
        .collect::<String>();
    assert!(asked.contains("a secret note"), "the model gets what was attached");
    stage.editor.call("session/close", json!({"sessionId": session})).await?;
    let closed = json!({"sessionId": session, "prompt": []});
    assert_eq!(stage.editor.refused("session/prompt", closed).await?["code"], -32002);

    let cwd = stage.editor.cwd.clone();
    let listed = stage.editor.call("session/list", json!({"cwd": cwd})).await?;
    let ids: Vec<_> =
        listed["sessions"].as_array().unwrap().iter().map(|session| session["sessionId"].clone()).collect();
    assert_eq!(ids, [json!(session)]);

    let stored = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    let before = stage.editor.told.len();
    stage.editor.call("session/load", stored.clone()).await?;
    let replayed = stage.editor.updates(before);
    assert_eq!(text_of(&replayed, "user_message_chunk"), "look at @/notes.txt");
    assert_eq!(text_of(&replayed, "agent_message_chunk"), "I saw it.");
    let call = crate::acp::stage::call_of(&replayed, "execute");
    assert_eq!((&call["status"], &call["title"]), (&json!("completed"), &json!("echo seen")));

    let before = stage.editor.told.len();
    stage.editor.call("session/resume", stored.clone()).await?;
    let is_message = |update: &Value| update["sessionUpdate"].as_str().unwrap().ends_with("_chunk");
    assert!(!stage.editor.updates(before).iter().any(is_message), "resuming repeats nothing");
    let (_, updates) = stage.editor.turn(&session, "sure?").await?;
    assert_eq!(text_of(&updates, "agent_message_chunk"), "Yes.");

    let forked = stage.editor.call("session/fork", stored).await?;
    let copy = forked["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(copy, session);
    let (_, updates) = stage.editor.turn(&copy, "sure?").await?;
    assert_eq!(text_of(&updates, "agent_message_chunk"), "Yes.");
    stage.finish().await
}
