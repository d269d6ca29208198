//! Compacted conversations, beside the real droid: each program reads what the other has compacted.

use anyhow::{Context as _, Result};
use musher::Session;
use musher::wire::UpdateSessionSettingsParams;
use musher_engine::SessionId;
use musher_engine::store::{Compaction, Record, Store};
use serde_json::Value;
use testkit::peers::DROID;
use testkit::rehearse::{Reply, Script, Usage, when};
use testkit::{droid, require_peer};

use super::stored_sessions::Stage;

/// More than the limit the test sets.
const LONG: Usage =
    Usage { input: Some(60_000), output: Some(10), cache_read: None, cache_creation: None, reasoning: None };

#[tokio::test]
async fn session_compacted_by_droid_is_compacted_for_the_engine() -> Result<()> {
    let script = Script::new()
        .reply(Reply::text("<summary>The word is mango.</summary>").when(when().without_tools()))
        .reply(Reply::text("Noted.").usage(LONG).when(when().with_tools()));
    let stage = Stage::new(&require_peer!(DROID), script)?;
    let settings = stage.home().join("settings.json");
    let mut content: Value = serde_json::from_slice(&fs_err::read(&settings)?)?;
    content["compactionTokenLimit"] = 50_000.into();
    fs_err::write(&settings, content.to_string())?;
    let session = Session::builder()
        .agent(stage.agent())
        .cwd(stage.sandbox.workspace())
        .model(droid::CHAT_MODEL)
        .open()
        .await?;
    session.send("The word is mango.").await?;
    let id = SessionId::new(session.id().as_str())?;
    let compacted = session.compact().await?;
    let new = SessionId::new(compacted.session.id().as_str())?;
    compacted.session.close().await?;
    session.close().await?;

    let store = Store::open(stage.home());
    let in_place = store.read(&id)?;
    let summary = in_place.compaction.context("droid has summed it up")?;
    assert_eq!(summary.summary.summary, "The word is mango.");
    assert!(summary.removed < in_place.messages.len(), "{} are kept", in_place.messages.len());
    let new = store.read(&new)?;
    assert_eq!(new.messages.len(), 0);
    assert_eq!(new.compaction.context("there is a summary")?.summary.summary, "The word is mango.");
    stage.finish().await
}

#[tokio::test]
async fn session_compacted_by_the_engine_is_compacted_for_droid() -> Result<()> {
    let script = Script::new().reply(Reply::text("Still mango.").when(when().with_tools().prompt("And now")));
    let stage = Stage::new(&require_peer!(DROID), script)?;
    let store = Store::open(stage.home());
    let mut log = crate::stored_sessions::write_session(&store, "of-ours", &stage.sandbox.workspace());
    let summary = Compaction {
        id: "summary-1".to_owned(),
        summary: "The user asked for files.".to_owned(),
        summary_tokens: 6,
        removed: 3,
        last_removed: Some("m3".to_owned()),
        ..Compaction::default()
    };
    log.append(&Record::Compaction(Box::new(summary)))?;
    drop(log);

    let resumed = Session::resume("of-ours").agent(stage.agent()).open().await?;
    let model =
        UpdateSessionSettingsParams { model_id: Some(droid::CHAT_MODEL.to_owned()), ..Default::default() };
    resumed.update_settings(model).await?;
    assert_eq!(resumed.send("And now?").await?.text, "Still mango.");
    resumed.close().await?;
    let calls = stage.model.calls();
    // the call for a title has none
    let with_tools =
        calls.iter().filter_map(|call| call.body.as_ref()).filter(|body| body["tools"].is_array());
    let asked: String = with_tools.map(Value::to_string).collect();
    assert!(asked.contains("The user asked for files."), "{asked}");
    assert!(asked.contains("There is mango.txt.") && !asked.contains("Which files are there?"), "{asked}");
    stage.finish().await
}
