//! Further folders of a workspace.

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};

use crate::acp::stage::{Stage, Who, model_heard, on};

pub(crate) async fn further_folders_belong_to_the_workspace_and_are_given_back(
    who: &Who,
) -> anyhow::Result<()> {
    let mut stage = Stage::within(who, |sandbox| {
        let folder = sandbox.home().join("library");
        fs_err::create_dir(&folder)?;
        fs_err::write(folder.join("AGENTS.md"), "speak of mangos")?;
        let create = |name: &str| {
            Reply::tool("Create", json!({"file_path": sandbox.home().join(name), "content": "x"}))
        };
        Ok(Script::new()
            .reply(create("library/inside.txt").when(on("inside", 1)))
            .reply(Reply::text("Made.").when(on("inside", 2)))
            .reply(create("outside.txt").when(on("outside", 1)))
            .reply(Reply::text("Not made.").when(on("outside", 2))))
    })?;
    let folder = stage.sandbox().home().join("library");
    let outside = stage.sandbox().home().join("outside.txt");
    let editor = &mut stage.editor;
    let hello = editor.hello(json!({})).await?;
    assert!(
        hello["agentCapabilities"]["sessionCapabilities"]["additionalDirectories"].is_object(),
        "{hello}"
    );
    let with =
        |folders: Value| json!({"cwd": editor.cwd, "mcpServers": [], "additionalDirectories": folders});
    let relative = with(json!(["library"]));
    let missing = with(json!([folder.join("nowhere")]));
    let params = with(json!([folder]));
    assert_eq!(editor.refused("session/new", relative).await?["code"], -32602);
    editor.refused("session/new", missing).await?;
    let opened = editor.call("session/new", params).await?;
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    editor.call("session/set_mode", json!({"sessionId": session, "modeId": "auto-low"})).await?;
    // the level covers files of the workspace: no permission request for those
    assert_eq!(editor.turn(&session, "inside").await?.0, "end_turn");
    assert!(folder.join("inside.txt").exists());
    let prompt = editor.prompt(&session, "outside").await?;
    let asked = editor.asked_for("session/request_permission").await?;
    editor.choose(&asked, "cancel").await?;
    editor.done(prompt).await?;
    assert!(!outside.exists());
    let heard = model_heard(stage.model());
    assert!(heard.contains("speak of mangos") && heard.contains(folder.to_str().unwrap()), "{heard}");

    let editor = &mut stage.editor;
    let listed = editor.call("session/list", json!({"cwd": editor.cwd})).await?;
    assert_eq!(listed["sessions"][0]["additionalDirectories"], json!([folder]), "{listed}");
    // who loads it says which folders it has from now on
    let stored = json!({"sessionId": session, "cwd": editor.cwd, "mcpServers": []});
    editor.call("session/load", stored).await?;
    editor.call("session/set_mode", json!({"sessionId": session, "modeId": "auto-low"})).await?;
    let prompt = editor.prompt(&session, "inside").await?;
    let asked = editor.asked_for("session/request_permission").await?;
    editor.choose(&asked, "cancel").await?;
    editor.done(prompt).await?;
    let listed = editor.call("session/list", json!({"cwd": editor.cwd})).await?;
    assert_eq!(listed["sessions"][0].get("additionalDirectories"), None, "{listed}");
    stage.finish().await
}
