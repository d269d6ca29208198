//! Streams: whole messages, deltas, and interrupting a turn.

use std::future::pending;

use anyhow::Result;
use musher::wire::{MessageRole, ToolExecutionPhase};
use musher::{Autonomy, CancellationToken, Decision, Event, StoppedBy, Turn, TurnEnd, TurnResult};
use testkit::rehearse::{Hang, Reply, Script};

use crate::Target;
use crate::stage::{TIMEOUT, execute, on, soon, until};

fn lists_files() -> Script {
    Script::new()
        .reply(execute("ls -la; sleep 2; echo README.md", "low").when(on("List", 1)))
        .reply(Reply::thinking("One file.").and_text(["There is ", "one ", "file."]).when(on("List", 2)))
}

fn name(event: &Event) -> String {
    match event {
        Event::ToolCall(call) => format!("call {}", call.name),
        Event::ToolResult(result) => {
            assert!(result.text().contains("README.md"), "{}", result.text());
            format!("result of {}", result.tool_name.as_deref().unwrap_or_default())
        }
        Event::User(message) => format!("user {:?}", message.text()),
        Event::Assistant(message) => format!("assistant {:?}", message.text()),
        Event::Result(result) => format!("result {:?}", result.end),
        other => format!("{other:?}"),
    }
}

pub(crate) async fn a_plain_stream_has_the_whole_pieces_in_order(target: &dyn Target) -> Result<()> {
    let stage = target.stage(lists_files())?;
    let session = stage.session().autonomy(Autonomy::High).open().await?;
    let mut turn = session.send("List the files.").start().await?;
    let mut seen = Vec::new();
    while let Some(event) = turn.next().await {
        let event = event?;
        assert!(!event.is_partial(), "{event:?}");
        seen.push(name(&event));
    }
    assert!(turn.next().await.is_none(), "nothing comes after the end");
    let expected = [
        "user \"List the files.\"",
        "call Execute",
        "assistant \"\"",
        "result of Execute",
        "assistant \"There is one file.\"",
        "result Completed",
    ];
    assert_eq!(seen, expected);
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn a_partial_stream_has_the_small_pieces_too(target: &dyn Target) -> Result<()> {
    let stage = target.stage(lists_files())?;
    let session = stage.session().autonomy(Autonomy::High).open().await?;
    let mut turn = session.send("List the files.").partial().start().await?;
    let (mut text, mut thought) = (String::new(), String::new());
    let (mut states, mut phases) = (Vec::new(), Vec::new());
    let (mut has_progress, mut has_usage, mut blocks) = (false, false, 0);
    let mut result = None;
    while let Some(event) = turn.next().await {
        match event? {
            Event::TextDelta(delta) => text.push_str(&delta.text),
            Event::ThinkingDelta(delta) => thought.push_str(&delta.text),
            Event::BlockComplete { .. } => blocks += 1,
            Event::State(state) => states.push(state.as_str().to_owned()),
            Event::ToolPhase(phase) => phases.push(phase.phase),
            Event::ToolProgress(progress) => has_progress |= progress.tool_name.as_deref() == Some("Execute"),
            Event::Usage(usage) => has_usage |= usage.total.output_tokens > 0,
            Event::Result(end) => result = Some(*end),
            _ => {}
        }
    }
    assert_eq!((text.as_str(), thought.as_str()), ("There is one file.", "One file."));
    assert!(states.iter().any(|state| state == "executing_tool"), "{states:?}");
    assert_eq!(phases, [ToolExecutionPhase::Queued, ToolExecutionPhase::Executing]);
    assert!(has_progress && has_usage && blocks >= 2, "{has_progress} {has_usage} {blocks}");
    let result = result.expect("the last event is the result");
    assert_eq!(result.text, text);
    assert_eq!(result.messages.iter().filter(|message| message.role == MessageRole::Assistant).count(), 2);
    session.close().await?;
    stage.finish().await
}

/// Later prompts first: an interrupted answer stays in the conversation.
pub(crate) fn can_be_stopped() -> Script {
    Script::new()
        .reply(Reply::text("Still here.").when(on("Anybody", 1)))
        .reply(execute("sleep 300", "low").when(on("Sleep", 1)))
        .reply(execute("touch made.txt", "medium").when(on("Ask", 1)))
        .reply(Reply::hang(Hang::BeforeHeaders).when(on("Silence", 1)))
        .reply(Reply::text(["Once ", "upon "]).and_hang().when(on("Essay", 1)))
}

async fn is_stopped_by_caller(turn: Turn, text: &str) -> Result<()> {
    let result = soon("the end of the turn", turn.finish()).await??;
    assert_eq!((&result.end, result.text.as_str()), (&TurnEnd::Interrupted(StoppedBy::Caller), text));
    assert!(result.is_interrupted() && !result.is_error());
    Ok(())
}

pub(crate) async fn a_turn_is_stopped_while_it_streams_runs_a_tool_or_waits_and_the_next_one_works(target: &dyn Target) -> Result<()> {
    let stage = target.stage(can_be_stopped())?;
    let session = stage.session().autonomy(Autonomy::High).open().await?;

    let mut turn = session.send("Essay, please.").partial().start().await?;
    let mut text = String::new();
    while text != "Once upon " {
        let event = until(&mut turn, "text", |event| matches!(event, Event::TextDelta(_))).await?;
        if let Event::TextDelta(delta) = event {
            text.push_str(&delta.text);
        }
    }
    let result: TurnResult = soon("the end", turn.interrupt()).await??;
    assert_eq!((result.end, result.text.as_str()), (TurnEnd::Interrupted(StoppedBy::Caller), "Once upon "));

    // by the session instead of the turn
    let mut turn = session.send("Essay, please.").partial().start().await?;
    until(&mut turn, "text", |event| matches!(event, Event::TextDelta(_))).await?;
    session.interrupt().await?;
    is_stopped_by_caller(turn, "Once upon ").await?;

    // by a token, while a tool runs
    let token = CancellationToken::new();
    let mut turn = session.send("Sleep well.").partial().cancel_token(token.clone()).start().await?;
    let runs = |event: &Event| matches!(event, Event::ToolPhase(phase) if phase.phase == ToolExecutionPhase::Executing);
    until(&mut turn, "the tool to run", runs).await?;
    token.cancel();
    let end = until(&mut turn, "the end", |event| matches!(event, Event::Result(_))).await?;
    let Event::Result(result) = end else { unreachable!() };
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Caller));

    // by a token that was cancelled before
    let turn = session.send("Silence!").cancel_token(token).start().await?;
    is_stopped_by_caller(turn, "").await?;

    // by letting go of it
    let asked = stage.model.calls().len();
    let turn = session.send("Silence!").start().await?;
    stage.model.wait_for_calls(asked + 1, TIMEOUT).await?;
    drop(turn);
    assert_eq!(
        soon("the next turn", session.send("Anybody there?").into_future()).await??.text,
        "Still here."
    );

    session.interrupt().await?;
    assert_eq!(session.send("Anybody there?").await?.text, "Still here.", "an idle session is not harmed");
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn a_turn_is_stopped_while_permission_is_pending(target: &dyn Target) -> Result<()> {
    let stage = target.stage(can_be_stopped())?;
    let (told, mut asked) = tokio::sync::mpsc::channel(1);
    let session = stage
        .session()
        .on_permission(move |_| {
            let told = told.clone();
            async move {
                told.send(()).await.ok();
                pending::<Decision>().await
            }
        })
        .open()
        .await?;
    let turn = session.send("Ask me.").start().await?;
    soon("the question", asked.recv()).await?;
    let result = soon("the end", turn.interrupt()).await??;
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Caller));
    assert!(!stage.sandbox().workspace().join("made.txt").exists());
    assert_eq!(session.send("Anybody there?").await?.text, "Still here.");
    session.close().await?;
    stage.finish().await
}
