//! Sessions: options, commands, plans, and coming back to them.

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};

use super::stage;
use crate::acp::stage::{Stage, eventually, execute, on, text_of};

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

#[tokio::test]
async fn without_a_key_own_models_work_and_logging_in_says_what_to_do() -> anyhow::Result<()> {
    let sdk = testkit::require_peer!(testkit::peers::ACP_SDK);
    let mut stage = Stage::without_key(&sdk, &testkit::require_peer!(testkit::peers::DROID))?;
    let session = stage.editor.open(json!({})).await?;
    let (reason, _) = stage.editor.turn(&session, "Hello?").await?;
    assert_eq!(reason, "end_turn");
    let refused = stage.editor.refused("authenticate", json!({"methodId": "factory-api-key"})).await?;
    assert_eq!(refused["code"], -32000, "{refused}");
    assert!(refused["data"].as_str().unwrap().contains("FACTORY_API_KEY"), "{refused}");
    let refused = stage.editor.refused("authenticate", json!({"methodId": "magic"})).await?;
    assert_eq!(refused["code"], -32602, "{refused}");
    stage.finish().await
}

#[tokio::test]
async fn the_editors_mcp_server_is_started_with_its_environment() -> anyhow::Result<()> {
    let mut stage = stage!(Script::new());
    stage.editor.hello(json!({})).await?;
    let started = stage.sandbox().workspace().join("started.txt");
    let script = format!("printf %s \"$WORD\" > {}; cat > /dev/null", started.display());
    let env = json!([{"name": "WORD", "value": "mango"}]);
    let server = json!({"name": "probe", "command": "/bin/sh", "args": ["-c", script], "env": env});
    let cwd = stage.editor.cwd.clone();
    stage.editor.call("session/new", json!({"cwd": cwd, "mcpServers": [server]})).await?;
    eventually("the server runs", || fs_err::read_to_string(&started).is_ok_and(|word| word == "mango"))
        .await;
    stage.finish().await
}

#[tokio::test]
async fn two_sessions_at_once_do_not_hear_each_other() -> anyhow::Result<()> {
    let slow = |words: [&str; 3], on| Reply::text(words).delay_ms(50, 200).when(on);
    let script = Script::new()
        .reply(slow(["a1 ", "a2 ", "a3"], on("apples", 1)))
        .reply(slow(["b1 ", "b2 ", "b3"], on("berries", 1)));
    let mut stage = stage!(script);
    let editor = &mut stage.editor;
    let first = editor.open(json!({})).await?;
    let opened = editor.call("session/new", json!({"cwd": editor.cwd, "mcpServers": []})).await?;
    let second = opened["sessionId"].as_str().unwrap().to_owned();
    let one = editor.prompt(&first, "apples").await?;
    let two = editor.prompt(&second, "berries").await?;
    editor
        .until("both ends", {
            let left = std::cell::Cell::new(2);
            move |line| {
                if line["done"] == one || line["done"] == two {
                    left.set(left.get() - 1);
                }
                left.get() == 0
            }
        })
        .await?;
    for (session, expected) in [(&first, "a1 a2 a3"), (&second, "b1 b2 b3")] {
        let own = editor.told.iter().filter(|line| line["update"]["sessionId"] == **session);
        let own: Vec<_> = own.map(|line| line["update"]["update"].clone()).collect();
        assert_eq!(text_of(&own, "agent_message_chunk"), expected);
    }
    stage.finish().await
}

#[tokio::test]
async fn a_session_that_was_summed_up_goes_on_under_its_id() -> anyhow::Result<()> {
    let script = Script::new()
        .reply(Reply::text("Noted.").when(on("mango", 1)))
        .reply(Reply::text("Going on.").when(on("further", 1)));
    let mut stage = stage!(script);
    let session = stage.editor.open(json!({})).await?;
    stage.editor.turn(&session, "The word is mango.").await?;
    let (reason, updates) = stage.editor.turn(&session, "/compact keep the word").await?;
    let told = text_of(&updates, "agent_message_chunk");
    assert!(reason == "end_turn" && told.contains("summed up"), "{told}");
    let (_, updates) = stage.editor.turn(&session, "further").await?;
    assert_eq!(text_of(&updates, "agent_message_chunk"), "Going on.");
    stage.finish().await
}

#[tokio::test]
async fn a_picture_reaches_the_model() -> anyhow::Result<()> {
    // one grey pixel
    let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
    let mut stage = stage!(Script::new().reply(Reply::text("Grey.").when(on("picture", 1))));
    let session = stage.editor.open(json!({})).await?;
    let picture = json!({"type": "image", "mimeType": "image/png", "data": pixel});
    let prompt = json!([{"type": "text", "text": "Which picture is this?"}, picture]);
    stage.editor.call("session/prompt", json!({"sessionId": session, "prompt": prompt})).await?;
    let calls = stage.model().calls();
    let bodies: String = calls.iter().filter_map(|call| call.body.as_ref()).map(Value::to_string).collect();
    assert!(bodies.contains("image_url") || bodies.contains("base64"), "no picture in {bodies}");
    stage.finish().await
}
