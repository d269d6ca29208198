//! Errors: failed turns as values, all other failures as typed errors.

use anyhow::Result;
use musher::wire::AgentTurnCompletionReason as Reason;
use musher::{ErrorKind, Event, FailureKind, TurnEnd};
use testkit::rehearse::{HttpError, Reply, Script};

use crate::Target;
use crate::stage::{on, soon};

pub(crate) async fn a_model_that_refuses_gives_a_result_that_says_so(target: &dyn Target) -> Result<()> {
    // the later prompt first: without an answer in between, the model sees both as one
    let script = Script::new()
        .reply(Reply::error(HttpError::new(400).message("what?")).when(on("Again", 1)))
        .reply(Reply::error(HttpError::new(401).message("no such key")).when(on("Hello", 1)));
    let stage = target.stage(script)?;
    let session = stage.session().open().await?;
    let mut turn = session.send("Hello.").start().await?;
    let (mut errors, mut result) = (0, None);
    while let Some(event) = turn.next().await {
        match event? {
            Event::Error(_) => errors += 1,
            Event::Result(end) => result = Some(*end),
            _ => {}
        }
    }
    let result = result.expect("the last event is the result");
    let failed = FailureKind::Execution(Reason::ModelAuthenticationFailed);
    assert_eq!((&result.end, result.subtype()), (&TurnEnd::Failed(failed), "error_during_execution"));
    assert!(result.is_error() && errors >= 1 && result.errors.len() == errors);
    let error = result.ok().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Session, "{error}");
    assert!(error.with_causes().to_string().contains("401"), "{error}");

    let result = session.send("Again.").await?;
    assert_eq!(result.end, TurnEnd::Failed(FailureKind::Execution(Reason::ModelRequestRejected)));
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn retries_are_reported_and_retracted_text_is_not_in_the_answer(target: &dyn Target) -> Result<()> {
    let script = Script::new()
        .reply(Reply::error(HttpError::new(429).retry_after_seconds(1)).when(on("Hello", 1)).times(1))
        .reply(Reply::error(HttpError::new(500)).when(on("Hello", 1)).times(1))
        .reply(Reply::text("Hello at last.").when(on("Hello", 1)));
    let stage = target.stage(script)?;
    let session = stage.session().open().await?;
    let mut turn = session.send("Hello.").partial().start().await?;
    let (mut retries, mut retracted, mut text) = (Vec::new(), 0, String::new());
    let mut end = None;
    while let Some(event) = soon("the next event", turn.next()).await? {
        match event? {
            Event::Retry(retry) => retries.push(retry.reason.as_str().to_owned()),
            Event::Retracted { .. } => {
                retracted += 1;
                text.clear();
            }
            Event::TextDelta(delta) => text.push_str(&delta.text),
            Event::Result(result) => end = Some(*result),
            _ => {}
        }
    }
    let end = end.expect("the last event is the result");
    assert_eq!((&end.end, end.text.as_str()), (&TurnEnd::Completed, "Hello at last."));
    assert_eq!(text, "Hello at last.");
    assert_eq!(retries, ["rate_limited", "overloaded"]);
    assert!(retracted >= 1);
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn a_droid_refuses_a_folder_that_is_not_there(target: &dyn Target) -> Result<()> {
    let stage = target.stage(Script::new())?;
    let error = stage.session().cwd("/no/such/folder").open().await.unwrap_err();
    let ErrorKind::Protocol { method, code } = error.kind() else { panic!("{error}") };
    assert_eq!((method.as_deref(), *code), (Some("droid.initialize_session"), Some(-32603)));
    stage.finish().await
}
