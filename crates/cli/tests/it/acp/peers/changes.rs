//! File changes of the agent, as the editor shows them.

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};

use crate::acp::stage::{Stage, Who, call_of, on};

const BEFORE: &str = "one\ntwo\nthree\n";
const EDITED: &str = "ONE\ntwo\nthree\n";

pub(crate) async fn changes_are_shown_with_the_old_and_the_new_text_before_they_are_made(
    who: &Who,
) -> anyhow::Result<()> {
    let create = Reply::tool("Create", json!({"file_path": "a.txt", "content": BEFORE}));
    let edit = Reply::tool("Edit", json!({"file_path": "a.txt", "old_str": "one", "new_str": "ONE"}));
    let script = Script::new()
        .reply(create.when(on("please create", 1)))
        .reply(Reply::text("Created.").when(on("please create", 2)))
        .reply(edit.when(on("please edit", 1)))
        .reply(Reply::text("Edited.").when(on("please edit", 2)));
    let mut stage = Stage::new(who, script)?;
    let file = stage.sandbox().workspace().join("a.txt");
    let session = stage.editor.open(json!({})).await?;
    let path = format!("{}/a.txt", stage.editor.cwd);
    for (prompt, tool, old, new) in
        [("please create", "Create", None, BEFORE), ("please edit", "Edit", Some(BEFORE), EDITED)]
    {
        let before = stage.editor.told.len();
        let id = stage.editor.prompt(&session, prompt).await?;
        let asked = stage.editor.asked().await?;
        let whole = [(json!(path), old.map(str::to_owned), json!(new))];
        assert_eq!(shown(&asked["params"]["toolCall"]["content"]), whole, "{asked:#}");
        stage.editor.choose(&asked, "proceed_once").await?;
        assert_eq!(stage.editor.done(id).await?["result"]["stopReason"], "end_turn");
        let call = call_of(&stage.editor.updates(before), "edit");
        assert_eq!((&call["status"], &call["name"]), (&json!("completed"), &json!(tool)), "{call:#}");
        assert_eq!(shown(&call["content"]), whole, "{call:#}");
        assert_eq!(call["locations"], json!([{"path": path}]), "{call:#}");
        assert_eq!(fs_err::read_to_string(&file)?, new);
    }
    stage.finish().await
}

/// The diffs in the content of a call: path, old text if there is one, new text.
fn shown(content: &Value) -> Vec<(Value, Option<String>, Value)> {
    let diffs = content.as_array().unwrap().iter().filter(|part| part["type"] == "diff");
    let diff = |diff: &Value| {
        let old = diff["oldText"].as_str().map(str::to_owned);
        (diff["path"].clone(), old, diff["newText"].clone())
    };
    diffs.map(diff).collect()
}
