//! Prompts with more than text.

use musher_rehearse::{Reply, Script};
use serde_json::json;

use crate::acp::stage::{Stage, Who, model_heard, on};

pub(crate) async fn a_picture_reaches_the_model(who: &Who) -> anyhow::Result<()> {
    // one grey pixel
    let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
    let mut stage = Stage::new(who, Script::new().reply(Reply::text("Grey.").when(on("picture", 1))))?;
    let session = stage.editor.open(json!({})).await?;
    let picture = json!({"type": "image", "mimeType": "image/png", "data": pixel});
    let prompt = json!([{"type": "text", "text": "Which picture is this?"}, picture]);
    stage.editor.call("session/prompt", json!({"sessionId": session, "prompt": prompt})).await?;
    let bodies = model_heard(stage.model());
    assert!(bodies.contains("image_url") || bodies.contains("base64"), "no picture in {bodies}");
    stage.finish().await
}

pub(crate) async fn links_and_embedded_files_reach_the_model(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new().reply(Reply::text("Seen.").when(on("look", 1))))?;
    let session = stage.editor.open(json!({})).await?;
    let prompt = json!([
        {"type": "text", "text": "look at "},
        {"type": "resource_link", "uri": "file:///w/the%20plan.md#L3:5", "name": "the plan"},
        {"type": "resource_link", "uri": "https://example.org/page", "name": "a page"},
        {"type": "resource", "resource": {"uri": "file:///w/notes.txt", "text": "buy mangos", "mimeType": "text/plain"}},
    ]);
    stage.editor.call("session/prompt", json!({"sessionId": session, "prompt": prompt})).await?;
    let heard = model_heard(stage.model());
    for part in ["/w/the plan.md#L3:5", "https://example.org/page", "/w/notes.txt", "buy mangos"] {
        assert!(heard.contains(part), "{part} in {heard}");
    }
    let audio = json!([{"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="}]);
    let refused =
        stage.editor.refused("session/prompt", json!({"sessionId": session, "prompt": audio})).await?;
    assert_eq!(refused["code"], -32602, "{refused}");
    stage.finish().await
}

pub(crate) async fn the_unsaved_text_of_a_linked_file_reaches_the_model(who: &Who) -> anyhow::Result<()> {
    for (is_offered, is_changed) in [(true, true), (true, false), (false, true)] {
        let mut stage = Stage::new(who, Script::new().reply(Reply::text("Seen.").when(on("look", 1))))?;
        let path = stage.sandbox().workspace().join("draft.txt");
        fs_err::write(&path, "as it was saved")?;
        let session = stage.editor.open(json!({"fs": {"readTextFile": is_offered}})).await?;
        let link =
            json!({"type": "resource_link", "uri": format!("file://{}", path.display()), "name": "draft"});
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "look at "}, link]});
        let prompt = stage.editor.start("session/prompt", prompt).await?;
        if is_offered {
            let asked = stage.editor.asked().await?;
            assert_eq!(asked["method"], "fs/read_text_file");
            assert_eq!(asked["params"]["path"], path.to_str().unwrap());
            let content = if is_changed { "as it is now" } else { "as it was saved" };
            stage.editor.answer(&asked, json!({"content": content})).await?;
        }
        assert_eq!(stage.editor.done(prompt).await?["result"]["stopReason"], "end_turn");
        let heard = model_heard(stage.model());
        assert_eq!(heard.contains("as it is now"), is_offered && is_changed, "{heard}");
        stage.finish().await?;
    }
    Ok(())
}

pub(crate) async fn an_editor_that_does_not_tell_of_one_file_can_tell_of_another(
    who: &Who,
) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, Script::new().reply(Reply::text("Seen.").when(on("look", 1))))?;
    let session = stage.editor.open(json!({"fs": {"readTextFile": true}})).await?;
    let link =
        |name: &str| json!({"type": "resource_link", "uri": format!("file:///w/{name}"), "name": name});
    let prompt = json!([{"type": "text", "text": "look at "}, link("first"), link("silent"), link("last")]);
    let prompt =
        stage.editor.start("session/prompt", json!({"sessionId": session, "prompt": prompt})).await?;
    let mut asked = Vec::new();
    for _ in 0..3 {
        asked.push(stage.editor.asked().await?);
    }
    // all were asked for before one was answered
    for question in asked.iter().rev().filter(|it| it["params"]["path"] != "/w/silent") {
        let content = format!("the words of {}", question["params"]["path"].as_str().unwrap());
        stage.editor.answer(question, json!({"content": content})).await?;
    }
    assert_eq!(stage.editor.done(prompt).await?["result"]["stopReason"], "end_turn");
    let heard = model_heard(stage.model());
    for words in ["the words of /w/first", "the words of /w/last"] {
        assert!(heard.contains(words), "{words} in {heard}");
    }
    stage.finish().await
}
