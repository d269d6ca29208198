//! What a session is set to, and the commands.

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};

use crate::acp::stage::{Stage, Who, model_heard, on, text_of};

pub(crate) async fn modes_and_options_are_offered_changed_and_reported(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new())?;
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

pub(crate) async fn a_to_do_list_is_the_plan_and_commands_of_ours_are_carried_out(
    who: &Who,
) -> anyhow::Result<()> {
    let todos = json!({"todos": "1. [completed] Look\n2. [in_progress] Leap"});
    let script = Script::new()
        .reply(Reply::tool("TodoWrite", todos).when(on("plan", 1)))
        .reply(Reply::text("So far.").when(on("plan", 2)))
        .reply(Reply::text("So far.").when(on("plan", 3)));
    let mut stage = Stage::new(who, script)?;
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
    assert!(updates.iter().all(|update| update["sessionUpdate"] != "tool_call"), "a plan is not a tool call");

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

pub(crate) async fn the_effort_can_be_chosen_where_the_model_has_a_choice(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new())?;
    let editor = &mut stage.editor;
    editor.hello(json!({})).await?;
    let opened = editor.call("session/new", json!({"cwd": editor.cwd, "mcpServers": []})).await?;
    let session = opened["sessionId"].clone();
    let models = opened["configOptions"][1]["options"].as_array().unwrap().clone();
    // the first model that can think more or less
    let mut found = None;
    for model in models {
        let change = json!({"sessionId": session, "configId": "model", "value": model["value"]});
        let changed = editor.call("session/set_config_option", change).await?;
        let options = changed["configOptions"].as_array().unwrap().clone();
        found = options.into_iter().find(|option| option["category"] == "thought_level");
        if found.is_some() {
            break;
        }
    }
    let effort = found.expect("a model with a choice");
    let values = effort["options"].as_array().unwrap();
    let other =
        values.iter().find(|value| value["value"] != effort["currentValue"]).unwrap()["value"].clone();
    let before = editor.told.len();
    let change = json!({"sessionId": session, "configId": effort["id"], "value": other});
    let changed = editor.call("session/set_config_option", change).await?;
    let current = |options: &Value| {
        let mut options = options.as_array().unwrap().iter();
        options.find(|option| option["category"] == "thought_level").unwrap()["currentValue"].clone()
    };
    assert_eq!(current(&changed["configOptions"]), other);
    let updates = editor.updates(before);
    let told = updates.iter().find(|update| update["sessionUpdate"] == "config_option_update").unwrap();
    assert_eq!(current(&told["configOptions"]), other);
    stage.finish().await
}

pub(crate) async fn every_command_of_ours_answers_without_the_model(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new().reply(Reply::text("Hello.").when(on("mango", 1))))?;
    let session = stage.editor.open(json!({})).await?;
    stage.editor.turn(&session, "The word is mango.").await?;
    let models = stage.editor.turn(&session, "/model").await?.1;
    let models = text_of(&models, "agent_message_chunk");
    let other = models.lines().find(|line| !line.contains("(current)")).unwrap();
    let other = other.split('`').nth(1).unwrap().to_owned();
    let heard = model_heard(stage.model()).len();
    for (command, answer) in [
        ("/mode", "(current)"),
        ("/mode auto-low", "now `auto-low`"),
        ("/mode sideways", "no mode `sideways`"),
        (&*format!("/model {other}"), "The model is now"),
        ("/model none", "no model `none`"),
        ("/context", "tokens are used"),
        ("/sessions", session.as_str()),
        ("/status", "`auto-low`"),
        ("/help", "/sessions"),
    ] {
        let (reason, updates) = stage.editor.turn(&session, command).await?;
        let text = text_of(&updates, "agent_message_chunk");
        assert!(reason == "end_turn" && text.contains(answer), "{command}: {text}");
    }
    // a change by a command is reported like any other change
    let updates = stage.editor.updates(0);
    let told = |kind: &str| updates.iter().rfind(|update| update["sessionUpdate"] == kind).unwrap().clone();
    assert_eq!(told("current_mode_update")["currentModeId"], "auto-low");
    assert_eq!(told("config_option_update")["configOptions"][1]["currentValue"], other);
    assert_eq!(model_heard(stage.model()).len(), heard, "no model is needed for that");
    stage.finish().await
}

pub(crate) async fn a_command_of_the_agent_is_announced_and_carried_out(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new().reply(Reply::text("Bonjour.").when(on("French", 1))))?;
    let folder = stage.sandbox().workspace().join(".factory/commands");
    fs_err::create_dir_all(&folder)?;
    let text = "---\ndescription: Greets\nargument-hint: a name\n---\nSay hello in French to $ARGUMENTS\n";
    fs_err::write(folder.join("greet.md"), text)?;
    let session = stage.editor.open(json!({})).await?;
    let commands = stage.editor.update("available_commands_update").await?;
    let mut commands = commands["availableCommands"].as_array().unwrap().iter();
    let greet = commands.find(|command| command["name"] == "greet").expect("the command is announced");
    assert_eq!(greet["input"]["hint"], "a name");
    let (reason, updates) = stage.editor.turn(&session, "/greet Ada").await?;
    assert_eq!((&*reason, &*text_of(&updates, "agent_message_chunk")), ("end_turn", "Bonjour."));
    assert!(model_heard(stage.model()).contains("in French to Ada"), "the agent filled the command in");
    stage.finish().await
}

pub(crate) async fn a_skill_is_announced_and_carried_out(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new().reply(Reply::text("Hola.").when(on("Ada", 1))))?;
    let folder = stage.sandbox().workspace().join(".factory/skills/spanish");
    fs_err::create_dir_all(&folder)?;
    let text =
        "---\nname: spanish\ndescription: Greets in Spanish\n---\nGreet the named person in Spanish.\n";
    fs_err::write(folder.join("SKILL.md"), text)?;
    let session = stage.editor.open(json!({})).await?;
    let commands = stage.editor.update("available_commands_update").await?;
    let mut commands = commands["availableCommands"].as_array().unwrap().iter();
    let skill = commands.find(|command| command["name"] == "spanish").expect("the skill is announced");
    assert_eq!(skill["description"], "Greets in Spanish");
    let (reason, updates) = stage.editor.turn(&session, "/spanish Ada").await?;
    assert_eq!((&*reason, &*text_of(&updates, "agent_message_chunk")), ("end_turn", "Hola."));
    assert!(model_heard(stage.model()).contains("Greet the named person"), "the model reads the skill");
    stage.finish().await
}
