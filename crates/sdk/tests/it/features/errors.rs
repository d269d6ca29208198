//! What goes wrong: failed turns as values, everything else as typed errors.

use anyhow::Result;
use musher::wire::AgentTurnCompletionReason as Reason;
use musher::{Agent, ErrorKind, Event, FailureKind, Image, Session, TurnEnd};
use testkit::rehearse::{HttpError, Reply, Script};

use super::stage::{on, soon};

#[tokio::test]
async fn a_model_that_refuses_gives_a_result_that_says_so() -> Result<()> {
    // the later prompt first: without an answer in between, the model sees both as one
    let script = Script::new()
        .reply(Reply::error(HttpError::new(400).message("what?")).when(on("Again", 1)))
        .reply(Reply::error(HttpError::new(401).message("no such key")).when(on("Hello", 1)));
    let stage = stage!(script);
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
    assert!(error.to_string().contains("401"), "{error}");

    let result = session.send("Again.").await?;
    assert_eq!(result.end, TurnEnd::Failed(FailureKind::Execution(Reason::ModelRequestRejected)));
    session.close().await?;
    stage.finish().await
}

#[tokio::test]
async fn retries_are_told_and_what_was_retracted_is_not_part_of_the_answer() -> Result<()> {
    let script = Script::new()
        .reply(Reply::error(HttpError::new(429).retry_after_seconds(1)).when(on("Hello", 1)).times(1))
        .reply(Reply::error(HttpError::new(500)).when(on("Hello", 1)).times(1))
        .reply(Reply::text("Hello at last.").when(on("Hello", 1)));
    let stage = stage!(script);
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
            Event::TextDelta(delta) => text.push_str(&delta.text_delta),
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

#[tokio::test]
async fn bad_input_is_refused_before_anything_is_started() -> Result<()> {
    let error = Session::builder().executable("/no/such/droid").open().await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Connection { program: Some("/no/such/droid".into()) });
    assert!(error.to_string().contains("install it, or name another program"), "{error}");

    let error = Session::builder().executable("/bin/cat").cwd("/no/such/folder").open().await.unwrap_err();
    assert!(error.is_invalid_input(), "{error}");
    assert!(error.to_string().contains("/no/such/folder"), "{error}");
    assert!(Image::base64("image/bmp", "Qk0=").unwrap_err().is_invalid_input());

    // a program that is no agent: its own words are in the error
    let agent = Agent::program("/bin/sh").args(["-c", "echo 'this is no agent' >&2; exit 3"]);
    let error = soon("the failure", Box::pin(Session::builder().agent(agent).open())).await?.unwrap_err();
    let ErrorKind::ProcessExit { code, stderr, .. } = error.kind() else { panic!("{error}") };
    assert_eq!((*code, stderr.trim()), (Some(3), "this is no agent"));
    Ok(())
}

#[tokio::test]
async fn a_droid_refuses_a_folder_that_is_not_there() -> Result<()> {
    let stage = stage!(Script::new());
    let error = stage.session().cwd("/no/such/folder").open().await.unwrap_err();
    let ErrorKind::Protocol { method, code } = error.kind() else { panic!("{error}") };
    assert_eq!((method.as_deref(), *code), (Some("droid.initialize_session"), Some(-32603)));
    stage.finish().await
}
