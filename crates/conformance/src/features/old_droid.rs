//! The same features on a droid of a year before, as far as it has them.

use anyhow::Result;
use musher::{Decision, Event, StoppedBy, TurnEnd};
use testkit::droid;

use super::handlers::{answers_then_declines, asks};
use super::sessions::{self, remembers};
use super::streams::{self, can_be_stopped};
use super::turns::writes_a_file;
use crate::Target;
use crate::stage::{soon, until};

pub(crate) async fn a_plain_stream_has_the_whole_pieces_in_order(target: &dyn Target) -> Result<()> {
    streams::a_plain_stream_has_the_whole_pieces_in_order(target).await
}

pub(crate) async fn questions_are_answered_or_declined(target: &dyn Target) -> Result<()> {
    // it reports the denial to the model and continues
    answers_then_declines(target.stage(asks())?, TurnEnd::Completed).await
}

pub(crate) async fn a_session_that_is_not_there_is_not_found(target: &dyn Target) -> Result<()> {
    sessions::a_session_that_is_not_there_is_not_found(target).await
}

pub(crate) async fn old_droid_forks_and_resumes_and_refuses_unknown_calls(target: &dyn Target) -> Result<()> {
    let stage = target.stage(remembers())?;
    let session = stage.session().open().await?;
    assert_eq!(session.send("Remember the word mango.").await?.text, "Noted.");
    assert_eq!(session.send("Which word?").await?.text, "Mango.");
    let error = session.rename("About mangoes").await.unwrap_err();
    assert!(error.is_unsupported(), "{error}");
    let error = session.client().get_context_stats().await.unwrap_err();
    assert!(error.is_unsupported(), "{error}");
    let fork = session.fork().await?;
    session.close().await?;
    assert_eq!(fork.state().cwd, Some(stage.sandbox().workspace()));
    assert_eq!(fork.send("And now?").await?.text, "Still mango.");
    fork.close().await?;
    stage.finish().await
}

pub(crate) async fn interrupted_old_droid_stays_usable(target: &dyn Target) -> Result<()> {
    let stage = target.stage(can_be_stopped())?;
    let session = stage.session().model(droid::CHAT_MODEL).open().await?;
    let mut turn = session.send("Essay, please.").partial().start().await?;
    until(&mut turn, "text", |event| matches!(event, Event::TextDelta(_))).await?;
    let result = soon("the end", turn.interrupt()).await??;
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Caller));
    assert_eq!(
        soon("the next turn", session.send("Anybody there?").into_future()).await??.text,
        "Still here."
    );
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn an_old_droid_that_announces_no_end_is_followed_to_its_end(target: &dyn Target) -> Result<()> {
    let stage = target.stage(writes_a_file())?;
    let session = stage.session().on_permission_sync(|_| Decision::allow_once()).open().await?;
    let result = session.send("Write a file.").await?;
    assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, "Done."));
    session.close().await?;
    stage.finish().await
}
