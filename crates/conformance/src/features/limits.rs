//! One turn at a time, its time limit and budget, and the end of a session.

use std::time::Duration;

use anyhow::Result;
use musher::{Autonomy, Budget, ErrorKind, Event, StoppedBy, TurnEnd};
use testkit::rehearse::{Hang, Reply, Script, Usage, when};

use crate::Target;
use crate::stage::{execute, on, soon, until};

pub(crate) async fn prompts_wait_in_line_or_are_refused(target: &dyn Target) -> Result<()> {
    let script = Script::new()
        .reply(Reply::text("One.").delay_ms(300, 0).when(on("First", 1)))
        .reply(Reply::text("Two.").when(on("Second", 1)));
    let stage = target.stage(script)?;
    let session = stage.session().open().await?;
    let first = session.send("First.").start().await?;
    let second = tokio::spawn(session.send("Second.").into_future());
    assert_eq!(soon("the first", first.finish()).await??.text, "One.");
    assert_eq!(soon("the second", second).await???.text, "Two.");
    let asked = stage.asked();
    assert!(asked[1].contains("One."), "the second began after the first had ended");
    session.close().await?;

    let session = stage.session().reject_while_busy().open().await?;
    let first = session.send("First.").start().await?;
    let error = session.send("Second.").await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Session, "{error}");
    assert_eq!(first.finish().await?.text, "One.");
    assert_eq!(session.send("Second.").await?.text, "Two.");
    session.close().await?;
    session.close().await?;
    let error = session.send("Second.").await.unwrap_err();
    assert!(error.is_connection(), "{error}");
    stage.finish().await
}

pub(crate) async fn turns_end_when_they_take_too_long_or_too_much(target: &dyn Target) -> Result<()> {
    let used = Usage { input: Some(5000), output: Some(100), ..Usage::default() };
    let script = Script::new()
        .reply(Reply::text("Still here.").when(on("Anybody", 1)))
        .reply(execute("ls", "low").usage(used).when(when().with_tools().prompt("Loop")))
        .reply(execute("ls", "low").usage(used).when(when().with_tools().prompt("Spend")))
        .reply(Reply::text(["Once ", "upon "]).and_hang().when(on("Stall", 1)))
        .reply(Reply::hang(Hang::BeforeHeaders).when(on("Late", 1)));
    let stage = target.stage(script)?;
    let session = stage
        .session()
        .autonomy(Autonomy::High)
        .turn_timeout(Duration::from_mins(5))
        .stall_timeout(Duration::from_secs(3))
        .open()
        .await?;
    let end = async |prompt: musher::Prompt| -> Result<TurnEnd> {
        Ok(soon("the end of the turn", prompt.into_future()).await??.end)
    };
    let stopped = TurnEnd::Interrupted;
    assert_eq!(
        end(session.send("Late.").timeout(Duration::from_millis(800))).await?,
        stopped(StoppedBy::Timeout)
    );
    assert_eq!(end(session.send("Stall.")).await?, stopped(StoppedBy::Stall));
    assert_eq!(
        end(session.send("Loop.").budget(Budget::default().steps(2))).await?,
        stopped(StoppedBy::Budget)
    );
    assert_eq!(
        end(session.send("Spend.").budget(Budget::default().tokens(7000))).await?,
        stopped(StoppedBy::Budget)
    );
    assert_eq!(end(session.send("Anybody there?")).await?, TurnEnd::Completed);
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn closing_ends_a_running_turn_and_dropping_everything_ends_the_agent(target: &dyn Target) -> Result<()> {
    let script = Script::new().reply(Reply::text(["Once ", "upon "]).and_hang().when(on("Essay", 1)));
    let stage = target.stage(script)?;
    let session = stage.session().open().await?;
    let mut turn = session.send("Essay, please.").partial().start().await?;
    until(&mut turn, "text", |event| matches!(event, Event::TextDelta(_))).await?;
    soon("the end of the agent", session.close()).await??;
    assert!(stage.sandbox().processes().is_empty());
    let result = soon("the end of the turn", turn.finish()).await??;
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Caller));

    let session = stage.session().open().await?;
    let mut turn = session.send("Essay, please.").partial().start().await?;
    drop(session);
    until(&mut turn, "text", |event| matches!(event, Event::TextDelta(_))).await?;
    // the turn was the last to hold the session
    drop(turn);
    stage.finish().await
}
