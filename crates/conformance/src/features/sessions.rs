//! Sessions: several turns, resume, fork, rename.

use anyhow::Result;
use testkit::rehearse::{Reply, Script, when};

use crate::Target;

pub(crate) fn remembers() -> Script {
    Script::new()
        .reply(Reply::text("Noted.").when(when().with_tools().prompt("Remember")))
        .reply(Reply::text("Mango.").when(when().with_tools().prompt("Which word")))
        .reply(Reply::text("Still mango.").when(when().with_tools().prompt("And now")))
}

pub(crate) async fn a_session_remembers_and_can_be_renamed_forked_and_resumed(target: &dyn Target) -> Result<()> {
    let stage = target.stage(remembers())?;
    let session = stage.session().open().await?;
    assert_eq!(session.send("Remember the word mango.").await?.text, "Noted.");
    assert_eq!(session.send("Which word?").await?.text, "Mango.");
    let asked = stage.asked();
    assert!(asked[1].contains("Remember the word mango."), "the second call has the first turn");

    session.rename("About mangoes").await?;
    assert_eq!(session.state().title.as_deref(), Some("About mangoes"));

    let fork = session.fork().title("A branch").await?;
    assert_ne!(fork.id(), session.id());
    assert!(!stage.is_program() || fork.process_id() != session.process_id());
    assert_eq!(fork.state().title.as_deref(), Some("A branch"));
    assert!(fork.state().history.iter().any(|message| message.text() == "Mango."));
    assert_eq!(fork.send("And now?").await?.text, "Still mango.");
    assert_eq!(session.send("Which word?").await?.text, "Mango.", "the first one stays usable");
    fork.close().await?;

    let id = session.id();
    session.close().await?;
    let resumed = stage.resume(&id).open().await?;
    assert_eq!(resumed.id(), id);
    let state = resumed.state();
    assert_eq!(state.cwd, Some(stage.sandbox().workspace()), "it works where it was made");
    assert_eq!(state.title.as_deref(), Some("About mangoes"));
    let texts: Vec<_> = state.history.iter().map(|message| message.text()).collect();
    assert!(texts.contains(&"Noted.".to_owned()) && texts.contains(&"Mango.".to_owned()), "{texts:?}");
    assert_eq!(resumed.send("And now?").await?.text, "Still mango.");
    assert!(stage.asked().last().is_some_and(|asked| asked.contains("Remember the word mango.")));
    resumed.close().await?;
    stage.finish().await
}

pub(crate) async fn a_session_that_is_not_there_is_not_found(target: &dyn Target) -> Result<()> {
    let stage = target.stage(Script::new())?;
    let error = stage.resume("00000000-0000-4000-8000-000000000000").open().await.unwrap_err();
    assert!(error.is_session_not_found(), "{error}");
    stage.finish().await
}
