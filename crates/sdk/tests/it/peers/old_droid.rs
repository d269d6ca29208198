//! The same features on a droid of a year before, as far as it has them.

use anyhow::Result;
use musher::{Decision, Event, Permission, StoppedBy, TurnEnd, sync};
use testkit::peers::DROID_OLD;
use testkit::rehearse::Script;
use testkit::{droid, require_peer};

use super::features::handlers::{answers_then_declines, asks};
use super::features::sessions::{is_not_found, remembers};
use super::features::stage::{soon, until};
use super::features::streams::{can_be_stopped, has_whole_pieces, lists_files};
use super::features::turns::writes_a_file;
use super::with_droid;

#[tokio::test]
async fn a_plain_stream_has_the_whole_pieces_in_order() -> Result<()> {
    has_whole_pieces(with_droid(&require_peer!(DROID_OLD), lists_files())?).await
}

#[tokio::test]
async fn questions_are_answered_or_declined() -> Result<()> {
    // it tells the model of the refusal and goes on
    answers_then_declines(with_droid(&require_peer!(DROID_OLD), asks())?, TurnEnd::Completed).await
}

#[tokio::test]
async fn a_session_that_is_not_there_is_not_found() -> Result<()> {
    is_not_found(with_droid(&require_peer!(DROID_OLD), Script::new())?).await
}

#[tokio::test]
async fn an_old_droid_can_fork_and_resume_and_says_what_it_cannot() -> Result<()> {
    let stage = with_droid(&require_peer!(DROID_OLD), remembers())?;
    let session = stage.session().open().await?;
    assert_eq!(session.send("Remember the word mango.").await?.text, "Noted.");
    assert_eq!(session.send("Which word?").await?.text, "Mango.");
    let error = session.rename("About mangoes").await.unwrap_err();
    assert!(error.is_unsupported(), "{error}");
    let error = session.get_context_stats().await.unwrap_err();
    assert!(error.is_unsupported(), "{error}");
    let fork = session.fork().await?;
    session.close().await?;
    assert_eq!(fork.state().cwd, Some(stage.sandbox().workspace()));
    assert_eq!(fork.send("And now?").await?.text, "Still mango.");
    fork.close().await?;
    stage.finish().await
}

#[tokio::test]
async fn an_old_droid_is_stopped_and_goes_on() -> Result<()> {
    let stage = with_droid(&require_peer!(DROID_OLD), can_be_stopped())?;
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

#[tokio::test]
async fn an_old_droid_that_announces_no_end_is_followed_to_its_end() -> Result<()> {
    let stage = with_droid(&require_peer!(DROID_OLD), writes_a_file())?;
    let session = stage.session().on_permission(sync(|_: Permission| Decision::allow_once())).open().await?;
    let result = session.send("Write a file.").await?;
    assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, "Done."));
    session.close().await?;
    stage.finish().await
}
