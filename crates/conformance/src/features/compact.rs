//! Compaction: a session continues with a summary of itself.

use anyhow::Result;

use super::sessions::remembers;

use crate::Target;

pub(crate) async fn compacted_session_continues_with_its_summary(target: &dyn Target) -> Result<()> {
    let stage = target.stage(remembers())?;
    let session = stage.session().open().await?;
    assert_eq!(session.send("Remember the word mango.").await?.text, "Noted.");
    assert_eq!(session.send("Which word?").await?.text, "Mango.");
    let compacted = session.compact().instructions("Keep the fruit verbatim.").await?;
    assert!(compacted.removed_messages > 0);
    assert_ne!(compacted.session.id(), session.id());
    let summary = stage.model.calls().iter().any(|call| {
        call.body.as_ref().is_some_and(|body| body.to_string().contains("Keep the fruit verbatim."))
    });
    assert!(summary, "the instructions reach the model");
    assert_eq!(compacted.session.send("And now?").await?.text, "Still mango.");
    compacted.session.close().await?;

    assert_eq!(session.send("Which word?").await?.text, "Mango.", "the first one stays usable");
    session.close().await?;
    stage.finish().await
}
