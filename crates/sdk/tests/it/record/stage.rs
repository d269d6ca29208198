//! Captures as agents, and turns as short stories to compare.

use std::path::PathBuf;
use std::time::Duration;

use musher::{Decision, Event, Replay, Result, Session, SessionBuilder, Turn, TurnResult};

/// The time after which a test counts as hung.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) fn path(version: &str, name: &str) -> PathBuf {
    let wire = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire");
    wire.join(version).join(name).with_extension("jsonl")
}

/// A capture of droid 0.225.2.
pub(crate) fn capture(name: &str) -> Replay {
    Replay::load(path("droid-0.225.2", name)).unwrap().timeout(DEADLINE)
}

/// A capture cut in two before the n-th line that contains `mark`, for operations of the SDK that use two connections.
pub(crate) fn capture_in_two(name: &str, mark: &str) -> Replay {
    let text = fs_err::read_to_string(path("droid-0.225.2", name)).unwrap();
    let (first, second) = text.split_at(
        text.lines().take_while(|line| !line.contains(mark)).fold(0, |at, line| at + line.len() + 1),
    );
    assert!(!second.is_empty(), "no {mark} in {name}");
    Replay::parse(first).unwrap().then(second).unwrap().timeout(DEADLINE)
}

pub(crate) fn session(replay: &Replay) -> SessionBuilder {
    Session::builder().agent(replay.agent()).cwd("/workspace")
}

/// Allows every request.
pub(crate) fn yes(builder: SessionBuilder) -> SessionBuilder {
    builder.on_permission_sync(|_| Decision::allow_once())
}

/// Follows a turn to its end; returns the events of a plain stream, and the result.
pub(crate) async fn follow(mut turn: Turn) -> Result<(Vec<String>, TurnResult)> {
    let mut story = Vec::new();
    while let Some(event) = tokio::time::timeout(DEADLINE, turn.next()).await.expect("the turn hangs") {
        let event = event?;
        if let Some(told) = tell(&event) {
            story.push(told);
        }
        if let Event::Result(result) = event {
            return Ok((story, *result));
        }
    }
    panic!("the stream ended without a result: {story:?}")
}

/// Sends a prompt in a session of its own and follows it.
pub(crate) async fn one_turn(replay: &Replay, builder: SessionBuilder) -> (Vec<String>, TurnResult) {
    let session = builder.open().await.unwrap();
    let turn = session.send("Go.").start().await.unwrap();
    let followed = follow(turn).await.unwrap();
    session.close().await.unwrap();
    replay.check().unwrap();
    followed
}

fn tell(event: &Event) -> Option<String> {
    Some(match event {
        Event::Assistant(message) => format!("assistant: {}", message.text()),
        Event::User(message) => format!("user: {}", message.text().split(" @@").next().unwrap_or_default()),
        Event::System(message) => format!("system: {}", message.text()),
        Event::ToolCall(call) => format!("call {}", call.name),
        Event::ToolResult(outcome) => {
            let name = outcome.tool_name.as_deref().unwrap_or("?");
            format!("{} of {name}", if outcome.is_error { "failure" } else { "result" })
        }
        Event::Hook(hook) => format!(
            "hook {:?} {}",
            hook.event,
            match &hook.status {
                musher::HookProgress::Started { .. } => "started".to_owned(),
                musher::HookProgress::Ended { exit_code, .. } => format!("ended {exit_code:?}"),
                _ => "?".to_owned(),
            }
        ),
        Event::Error(error) => format!("error: {}", error.message),
        Event::Retry(retry) => format!("retry {:?}", retry.attempt),
        Event::Retracted { .. } => "retracted".to_owned(),
        Event::HandlerFailed { reason } => format!("handler failed: {reason}"),
        Event::Result(result) => format!("{:?}", result.end),
        _ => return None,
    })
}
