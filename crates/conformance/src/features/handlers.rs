//! Handlers: decisions on tool calls, and answers to questions.

use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use musher::wire::ToolConfirmationOutcome as Outcome;
use musher::{Answers, Autonomy, Decision, Event, PermissionHandler, PermissionRequest, Session, StoppedBy, TurnEnd, TurnResult};
use serde_json::json;
use testkit::rehearse::{Reply, Script};

use crate::Target;
use crate::stage::{Stage, execute, on, soon, until};

/// Decides by the command.
struct ByCommand;

impl PermissionHandler for ByCommand {
    fn decide(&self, asked: PermissionRequest) -> Pin<Box<dyn Future<Output = Decision> + Send>> {
        match asked.sole_command() {
            Some("touch allowed.txt") => Box::pin(ready(Decision::allow_once())),
            Some("touch always.txt") => Box::pin(ready(Decision::allow_always())),
            Some("touch denied.txt") => Box::pin(ready(Decision::deny().comment("not today"))),
            Some("touch panics.txt") => std::panic::resume_unwind(Box::new("no idea")),
            Some("touch later.txt") => {
                Box::pin(async { std::panic::resume_unwind(Box::new("no idea later")) })
            }
            Some("touch never.txt") => Box::pin(pending()),
            Some("touch odd.txt") => Box::pin(ready(Outcome::ProceedNewSessionHigh.into())),
            other => panic!("unexpected: {other:?}"),
        }
    }
}

fn touches(words: &[&str]) -> Script {
    words.iter().fold(Script::new(), |script, word| {
        let command = format!("touch {word}.txt");
        script
            .reply(execute(&command, "low").when(on(&format!("Make {word}"), 1)))
            .reply(Reply::text("Made.").when(on(&format!("Make {word}"), 2)))
    })
}

/// Runs a turn that creates a file; returns its result, and the failures of the handler.
async fn make(session: &Session, word: &str) -> Result<(TurnResult, Vec<String>)> {
    let mut turn = session.send(format!("Make {word}.")).start().await?;
    let mut failures = Vec::new();
    let reading = async {
        while let Some(event) = turn.next().await {
            match event? {
                Event::HandlerFailed { reason } => failures.push(reason),
                Event::Result(result) => return Ok((*result, failures)),
                _ => {}
            }
        }
        anyhow::bail!("no result")
    };
    soon("the end of the turn", reading).await?
}

pub(crate) async fn handler_decides_and_failing_handler_denies(target: &dyn Target) -> Result<()> {
    let words = ["allowed", "denied", "panics", "later", "never", "odd", "always", "after"];
    let stage = target.stage(touches(&words))?;
    let session =
        stage.session().permission_handler(ByCommand).handler_timeout(Duration::from_millis(500)).open().await?;
    let made = |word: &str| stage.sandbox().workspace().join(format!("{word}.txt")).exists();

    let (result, failures) = make(&session, "allowed").await?;
    assert_eq!((result.end, failures.len(), made("allowed")), (TurnEnd::Completed, 0, true));
    let denied = TurnEnd::Interrupted(StoppedBy::Denied);
    let (result, failures) = make(&session, "denied").await?;
    assert_eq!((&result.end, failures.len(), made("denied")), (&denied, 0, false));
    for (word, reason) in [
        ("panics", "it panicked: no idea"),
        ("later", "it panicked: no idea later"),
        ("never", "no answer within 500ms"),
        ("odd", "`proceed_new_session_high` was not offered (offered: proceed_once, proceed_always, cancel)"),
    ] {
        let (result, failures) = make(&session, word).await?;
        assert_eq!((&result.end, made(word)), (&denied, false), "{word}");
        assert_eq!(failures, [format!("permission handler: {reason}")]);
        assert_eq!(result.errors.len(), 1, "the result has it, too");
    }
    let (result, _) = make(&session, "always").await?;
    assert_eq!((result.end, made("always")), (TurnEnd::Completed, true));
    assert_eq!(session.state().settings.autonomy_level, Some(Autonomy::Low), "a yes for always raises it");
    let (result, _) = make(&session, "after").await?;
    assert_eq!(
        (result.end, made("after")),
        (TurnEnd::Completed, true),
        "and the handler is not asked any more"
    );
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn closures_decide_for_creating_and_editing_files(target: &dyn Target) -> Result<()> {
    let stage_script = |folder: &std::path::Path| {
        let file = folder.join("hello.txt").to_string_lossy().into_owned();
        Script::new()
            .reply(
                Reply::tool("Create", json!({"file_path": file, "content": "Hello\n"})).when(on("Create", 1)),
            )
            .reply(
                Reply::tool("Edit", json!({"file_path": file, "old_str": "Hello", "new_str": "Bye"}))
                    .when(on("Create", 2)),
            )
            .reply(Reply::text("Done.").when(on("Create", 3)))
    };
    // the script needs the folder, and the stage the script: a link that is the same everywhere
    let folder = std::env::temp_dir().join(format!("musher-handlers-{}", std::process::id()));
    let stage = target.stage(stage_script(&folder))?;
    std::os::unix::fs::symlink(stage.sandbox().workspace(), &folder)?;
    let kinds = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&kinds);
    let session = stage
        .session()
        .on_permission(move |asked| {
            let seen = Arc::clone(&seen);
            async move {
                tokio::task::yield_now().await;
                for tool_use in &asked.tool_uses {
                    seen.lock().unwrap().push(tool_use.confirmation_type.as_str().to_owned());
                }
                Decision::allow_once()
            }
        })
        .open()
        .await?;
    let result = session.send("Create hello.txt and edit it.").await;
    fs_err::remove_file(&folder)?;
    assert_eq!(result?.text, "Done.");
    assert_eq!(*kinds.lock().unwrap(), ["create", "edit"]);
    assert_eq!(fs_err::read_to_string(stage.sandbox().workspace().join("hello.txt"))?, "Bye\n");
    session.close().await?;
    stage.finish().await
}

const QUESTIONS: &str = "1. [question] Which colour?\n[topic] Colour\n[option] Red\n[option] Blue\n\n\
                         2. [question] Which size?\n[topic] Size\n[option] Small\n[option] Large\n";

pub(crate) fn asks() -> Script {
    let ask = || Reply::tool("AskUser", json!({"questionnaire": QUESTIONS}));
    ["Set up", "Once more"].into_iter().fold(Script::new(), |script, word| {
        script.reply(ask().when(on(word, 1))).reply(Reply::text("As you like.").when(on(word, 2)))
    })
}

pub(crate) async fn questions_are_answered_or_declined(target: &dyn Target) -> Result<()> {
    answers_then_declines(target.stage(asks())?, TurnEnd::Interrupted(StoppedBy::Denied)).await
}

pub(crate) async fn answers_then_declines(stage: Stage, declined: TurnEnd) -> Result<()> {
    let asked_before = Mutex::new(false);
    let session = stage
        .session()
        .on_question_sync(move |asked| {
            if std::mem::replace(&mut *asked_before.lock().unwrap(), true) {
                return Answers::Declined;
            }
            asked.answer_all(|question| question.options.as_ref()?.last().cloned())
        })
        .open()
        .await?;
    let mut turn = session.send("Set up the project.").start().await?;
    let mut answer = String::new();
    while let Some(event) = turn.next().await {
        match event? {
            Event::ToolResult(result) => answer = result.text(),
            Event::Result(result) => {
                assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, "As you like."));
            }
            _ => {}
        }
    }
    assert!(answer.contains("[answer] Blue") && answer.contains("[answer] Large"), "{answer}");
    let result = soon("the end", session.send("Once more.").into_future()).await??;
    assert_eq!(result.end, declined);
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn without_a_handler_questions_are_declined(target: &dyn Target) -> Result<()> {
    let stage = target.stage(asks())?;
    let session = stage.session().open().await?;
    let result = soon("the end", session.send("Set up the project.").into_future()).await??;
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Denied));
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn requests_on_the_stream_are_answered_dropped_and_interrupted(target: &dyn Target) -> Result<()> {
    let words = ["allowed", "denied", "dropped", "stopped", "after"];
    let stage = target.stage(touches(&words))?;
    let session = stage.session().open().await?;
    let made = |word: &str| stage.sandbox().workspace().join(format!("{word}.txt")).exists();
    let start = |word: &str| session.send(format!("Make {word}.")).ask_on_stream().start();
    let is_request = |event: &Event| matches!(event, Event::Permission(_));
    let denied = TurnEnd::Interrupted(StoppedBy::Denied);

    for (word, decision, end) in [
        ("allowed", Some(Decision::allow_once()), TurnEnd::Completed),
        ("denied", Some(Decision::deny().comment("not today")), denied.clone()),
        ("dropped", None, denied),
    ] {
        let mut turn = start(word).await?;
        let Event::Permission(pending) = until(&mut turn, "the request", is_request).await? else { unreachable!() };
        let commands = pending.request().commands().expect("a plain command");
        assert_eq!((commands[0].program(), commands[0].args()), ("touch", &[format!("{word}.txt")][..]));
        match decision {
            Some(decision) => pending.decide(decision),
            None => drop(pending),
        }
        let result = soon("the end of the turn", turn.finish()).await??;
        assert_eq!((result.end, made(word)), (end, word == "allowed"), "{word}");
    }

    let mut turn = start("stopped").await?;
    let Event::Permission(pending) = until(&mut turn, "the request", is_request).await? else { unreachable!() };
    let result = soon("the end of the turn", turn.interrupt()).await??;
    assert_eq!((result.end, made("stopped")), (TurnEnd::Interrupted(StoppedBy::Caller), false));
    soon("the end of the request", pending.settled()).await?;
    pending.allow_once();

    let mut turn = start("after").await?;
    let Event::Permission(pending) = until(&mut turn, "the request", is_request).await? else { unreachable!() };
    pending.allow_once();
    let result = soon("the end of the turn", turn.finish()).await??;
    assert_eq!((result.end, made("after")), (TurnEnd::Completed, true), "the late answer did nothing");
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn questions_on_the_stream_are_answered_or_dropped(target: &dyn Target) -> Result<()> {
    let stage = target.stage(asks())?;
    let session = stage.session().open().await?;
    let mut turn = session.send("Set up the project.").ask_on_stream().start().await?;
    let is_question = |event: &Event| matches!(event, Event::Question(_));
    let Event::Question(pending) = until(&mut turn, "the questions", is_question).await? else { unreachable!() };
    let last = pending.request().answer_all(|question| question.options.as_ref()?.last().cloned());
    pending.answer(last);
    let is_result = |event: &Event| matches!(event, Event::ToolResult(_));
    let Event::ToolResult(outcome) = until(&mut turn, "the answers", is_result).await? else { unreachable!() };
    let text = outcome.text();
    assert!(text.contains("[answer] Blue") && text.contains("[answer] Large"), "{text}");
    let result = soon("the end of the turn", turn.finish()).await??;
    assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, "As you like."));

    let result = soon("the end", session.send("Once more.").ask_on_stream().into_future()).await??;
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Denied));
    session.close().await?;
    stage.finish().await
}
