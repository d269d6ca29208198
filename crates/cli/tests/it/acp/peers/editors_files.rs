//! The editor's own text of files: what is not saved is seen, and what is written goes through the editor.

use std::path::PathBuf;

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};

use crate::acp::stage::{Editor, Stage, Who, call_of, model_heard, on};

const SAVED: &str = "one\ntwo\n";
const UNSAVED: &str = "one\ntwo\nthree\n";

/// A stage with a file that the editor has changed and not saved, and calls of these tools.
fn stage(who: &Who, calls: &[(&str, &str, Value)]) -> anyhow::Result<(Stage, PathBuf)> {
    let stage = Stage::within(who, |sandbox| {
        let path = sandbox.workspace().join("draft.txt");
        fs_err::write(&path, SAVED)?;
        let mut script = Script::new();
        for (word, tool, input) in calls {
            let mut input = input.clone();
            if *tool == "Read" {
                input["file_path"] = json!(path);
            }
            script = script
                .reply(Reply::tool(*tool, input).when(on(word, 1)))
                .reply(Reply::text("Done.").when(on(word, 2)));
        }
        Ok(script)
    })?;
    let path = stage.sandbox().workspace().join("draft.txt");
    Ok((stage, path))
}

async fn open(editor: &mut Editor, can: Value, mode: &str) -> anyhow::Result<String> {
    let session = editor.open(json!({"fs": can})).await?;
    editor.call("session/set_mode", json!({"sessionId": session, "modeId": mode})).await?;
    Ok(session)
}

/// Answers a wish to read the file.
async fn read(editor: &mut Editor, path: &PathBuf) -> anyhow::Result<()> {
    let asked = editor.asked_for("fs/read_text_file").await?;
    assert_eq!(asked["params"]["path"], json!(path));
    editor.answer(&asked, json!({"content": UNSAVED})).await
}

fn edit(old: &str, new: &str) -> Value {
    json!({"file_path": "draft.txt", "old_str": old, "new_str": new})
}

pub(crate) async fn what_is_not_saved_is_read_changed_and_written_through_the_editor(
    who: &Who,
) -> anyhow::Result<()> {
    let calls = [("look", "Read", json!({})), ("change", "Edit", edit("three", "3"))];
    let (mut stage, path) = stage(who, &calls)?;
    let editor = &mut stage.editor;
    let session = open(editor, json!({"readTextFile": true, "writeTextFile": true}), "normal").await?;
    let prompt = editor.prompt(&session, "look").await?;
    read(editor, &path).await?;
    editor.done(prompt).await?;
    assert!(model_heard(stage.model()).contains("three"), "the model sees what is not saved");

    let editor = &mut stage.editor;
    let before = editor.told.len();
    let prompt = editor.prompt(&session, "change").await?;
    // once for the question, which shows what would happen, and once for the change itself
    read(editor, &path).await?;
    let asked = editor.asked_for("session/request_permission").await?;
    let shown = &asked["params"]["toolCall"]["content"][0];
    assert_eq!((&shown["oldText"], &shown["newText"]), (&json!(UNSAVED), &json!("one\ntwo\n3\n")), "{shown}");
    editor.choose(&asked, "proceed_once").await?;
    read(editor, &path).await?;
    let asked = editor.asked_for("fs/write_text_file").await?;
    assert_eq!(
        (&asked["params"]["path"], &asked["params"]["content"]),
        (&json!(path), &json!("one\ntwo\n3\n"))
    );
    editor.answer(&asked, json!({})).await?;
    assert_eq!(editor.done(prompt).await?["result"]["stopReason"], "end_turn");
    assert_eq!(call_of(&editor.updates(before), "edit")["status"], "completed");
    assert_eq!(fs_err::read_to_string(&path)?, SAVED, "what the editor writes is not written twice");
    stage.finish().await
}

pub(crate) async fn what_the_editor_does_not_write_is_an_error_and_is_not_written(
    who: &Who,
) -> anyhow::Result<()> {
    let create = json!({"file_path": "new.txt", "content": "hello\n"});
    let (mut stage, path) = stage(who, &[("create", "Create", create)])?;
    let editor = &mut stage.editor;
    let session = open(editor, json!({"writeTextFile": true}), "auto-high").await?;
    let before = editor.told.len();
    let prompt = editor.prompt(&session, "create").await?;
    let asked = editor.asked_for("fs/write_text_file").await?;
    assert_eq!(asked["params"]["content"], "hello\n");
    editor.fail(&asked, "the buffer is locked").await?;
    assert_eq!(editor.done(prompt).await?["result"]["stopReason"], "end_turn");
    assert_eq!(call_of(&editor.updates(before), "edit")["status"], "failed");
    assert!(!path.with_file_name("new.txt").exists());
    let heard = model_heard(stage.model());
    assert!(heard.contains("the editor did not write the file"), "{heard}");
    stage.finish().await
}

pub(crate) async fn an_editor_that_does_not_answer_a_read_is_not_waited_for(who: &Who) -> anyhow::Result<()> {
    let calls = [("look", "Read", json!({})), ("change", "Edit", edit("two", "2"))];
    let (mut stage, path) = stage(who, &calls)?;
    let editor = &mut stage.editor;
    let session = open(editor, json!({"readTextFile": true, "writeTextFile": true}), "auto-high").await?;
    for word in ["look", "change"] {
        let prompt = editor.prompt(&session, word).await?;
        let asked = editor.asked_for("fs/read_text_file").await?;
        // what was read on the disk is written there
        assert_eq!(editor.done(prompt).await?["result"]["stopReason"], "end_turn");
        assert!(editor.told.iter().any(|line| line["withdrawn"] == asked["ask"]), "{word}");
    }
    assert_eq!(fs_err::read_to_string(&path)?, "one\n2\n");
    assert!(model_heard(stage.model()).contains("one\\ntwo"));
    stage.finish().await
}

pub(crate) async fn a_write_that_is_not_answered_can_be_cancelled(who: &Who) -> anyhow::Result<()> {
    let create = json!({"file_path": "new.txt", "content": "hello\n"});
    let (mut stage, path) = stage(who, &[("create", "Create", create), ("look", "Read", json!({}))])?;
    let editor = &mut stage.editor;
    let session = open(editor, json!({"writeTextFile": true}), "auto-high").await?;
    let prompt = editor.prompt(&session, "create").await?;
    let asked = editor.asked_for("fs/write_text_file").await?;
    editor.notify("session/cancel", json!({"sessionId": session})).await?;
    assert_eq!(editor.done(prompt).await?["result"]["stopReason"], "cancelled");
    let id = asked["ask"].clone();
    if !editor.told.iter().any(|line| line["withdrawn"] == id) {
        editor.until("the withdrawal", |line| line["withdrawn"] == id).await?;
    }
    assert!(!path.with_file_name("new.txt").exists());
    assert_eq!(editor.turn(&session, "look").await?.0, "end_turn");
    stage.finish().await
}

pub(crate) async fn files_outside_of_the_workspace_and_pictures_stay_with_the_disk(
    who: &Who,
) -> anyhow::Result<()> {
    let mut stage = Stage::within(who, |sandbox| {
        let outside = sandbox.home().join("outside.txt");
        let picture = sandbox.workspace().join("grey.png");
        fs_err::write(&outside, "far away\n")?;
        fs_err::write(&picture, b"\x89PNG\r\n\x1a\n")?;
        let edit = json!({"file_path": outside, "old_str": "far", "new_str": "very far"});
        Ok(Script::new()
            .reply(Reply::tool("Read", json!({"file_path": picture})).when(on("all", 1)))
            .reply(Reply::tool("Read", json!({"file_path": outside})).when(on("all", 2)))
            .reply(Reply::tool("Edit", edit).when(on("all", 3)))
            .reply(Reply::text("Done.").when(on("all", 4))))
    })?;
    let session = {
        let editor = &mut stage.editor;
        open(editor, json!({"readTextFile": true, "writeTextFile": true}), "auto-high").await?
    };
    let editor = &mut stage.editor;
    // nothing is asked, or this would not end
    assert_eq!(editor.turn(&session, "all").await?.0, "end_turn");
    assert!(editor.told.iter().all(|line| line.get("ask").is_none()));
    let outside = stage.sandbox().home().join("outside.txt");
    assert_eq!(fs_err::read_to_string(outside)?, "very far away\n");
    stage.finish().await
}
