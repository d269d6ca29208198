//! Requirements of the first session: an account, or a model.

use musher_rehearse::{Reply, Script};
use serde_json::json;

use crate::acp::stage::{Stage, Who, on, text_of};

pub(crate) async fn without_a_key_own_models_work_and_logging_in_says_what_to_do(
    who: &Who,
) -> anyhow::Result<()> {
    let mut stage = Stage::without_key(who)?;
    let session = stage.editor.open(json!({})).await?;
    let (reason, _) = stage.editor.turn(&session, "Hello?").await?;
    assert_eq!(reason, "end_turn");
    let refused = stage.editor.refused("authenticate", json!({"methodId": "factory-api-key"})).await?;
    assert_eq!(refused["code"], -32000, "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("FACTORY_API_KEY"), "{refused}");
    let refused = stage.editor.refused("authenticate", json!({"methodId": "magic"})).await?;
    assert_eq!(refused["code"], -32602, "{refused}");
    stage.finish().await
}

pub(crate) async fn without_a_model_it_is_said_what_to_do_and_a_script_can_be_played_instead(
    who: &Who,
) -> anyhow::Result<()> {
    let mut stage = Stage::without_models(who)?;
    let editor = &mut stage.editor;
    let hello = editor.hello(json!({})).await?;
    let ways: Vec<_> = hello["authMethods"].as_array().unwrap().iter().map(|way| &way["id"]).collect();
    assert_eq!(ways, ["model", "rehearsal"]);
    let new = json!({"cwd": editor.cwd, "mcpServers": []});
    let refused = editor.refused("session/new", new.clone()).await?;
    assert_eq!(refused["code"], -32000, "{refused}");
    for way in
        ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "customModels", ".musher/settings.json", "Scripted responses"]
    {
        assert!(refused["message"].as_str().unwrap().contains(way), "{way} in {refused}");
        assert_eq!(refused["data"]["details"], refused["message"]);
    }
    let refused = editor.refused("authenticate", json!({"methodId": "model"})).await?;
    assert_eq!(refused["code"], -32000, "{refused}");
    let refused = editor.refused("authenticate", json!({"methodId": "magic"})).await?;
    assert_eq!(refused["code"], -32602, "{refused}");

    editor.call("authenticate", json!({"methodId": "rehearsal"})).await?;
    let opened = editor.call("session/new", new.clone()).await?;
    assert_eq!(opened["configOptions"][1]["currentValue"], "rehearsal", "{opened}");
    let name = opened["configOptions"][1]["options"][0]["name"].as_str().unwrap();
    assert!(name.contains("scripted"), "{name}");
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let (reason, updates) = editor.turn(&session, "Hello?").await?;
    assert!(reason == "end_turn" && !text_of(&updates, "agent_message_chunk").is_empty(), "{updates:?}");

    // a model that is named later is there for the next session
    stage.name_models()?;
    let editor = &mut stage.editor;
    editor.call("authenticate", json!({"methodId": "model"})).await?;
    let opened = editor.call("session/new", new).await?;
    let model = opened["configOptions"][1]["currentValue"].as_str().unwrap();
    assert!(model.starts_with("custom:"), "{opened}");
    stage.finish().await
}

pub(crate) async fn sessions_of_droid_are_listed_and_taken_over(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new().reply(Reply::text("It was mango.").when(on("which", 1))))?;
    let id = "11111111-2222-4333-8444-555555555555";
    let cwd = stage.editor.cwd.clone();
    let message = |id: &str, role: &str, text: &str| {
        let content = json!([{"type": "text", "text": text}]);
        json!({"type": "message", "id": id, "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": role, "content": content}})
    };
    let lines = [
        json!({"type": "session_start", "id": id, "title": "A word", "owner": "someone", "version": 2, "cwd": cwd}),
        message("m1", "user", "The word is mango."),
        message("m2", "assistant", "Noted."),
    ];
    let folder = stage.sandbox().home().join(".factory/sessions").join(cwd.replace('/', "-"));
    fs_err::create_dir_all(&folder)?;
    let log = lines.map(|line| line.to_string()).join("\n") + "\n";
    fs_err::write(folder.join(format!("{id}.jsonl")), &log)?;

    let editor = &mut stage.editor;
    editor.hello(json!({})).await?;
    let listed = editor.call("session/list", json!({"cwd": cwd})).await?;
    assert_eq!(listed["sessions"][0]["sessionId"], id, "{listed}");
    let stored = json!({"sessionId": id, "cwd": cwd, "mcpServers": []});
    let before = editor.told.len();
    editor.call("session/load", stored).await?;
    assert_eq!(text_of(&editor.updates(before), "user_message_chunk"), "The word is mango.");
    editor.turn(id, "which word?").await?;
    let listed = editor.call("session/list", json!({"cwd": cwd})).await?;
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "listed once: {listed}");
    assert_eq!(fs_err::read_to_string(folder.join(format!("{id}.jsonl")))?, log, "theirs is as it was");

    // ours can be deleted, theirs not
    editor.call("session/delete", json!({"sessionId": id})).await?;
    let refused = editor.refused("session/delete", json!({"sessionId": id})).await?;
    assert!(refused["message"].as_str().unwrap().contains("only droid"), "{refused}");
    assert!(folder.join(format!("{id}.jsonl")).exists());
    stage.finish().await
}
