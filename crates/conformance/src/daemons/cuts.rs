//! Connections that break, at every message, and daemons that end.

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt as _, stream};
use musher::{Decision, DaemonState, Event, TurnEnd};
use tokio::time::timeout;

use super::attach::script;
use super::stage::{Stage, TIMEOUT, answer};
use crate::Executable;

/// How many connections are cut at the same time.
const AT_ONCE: usize = 4;

pub(super) async fn turn_survives_a_cut_at_every_message(executable: &Executable) -> Result<()> {
    let stage = Stage::new(executable, script()).await?;
    let messages = story(&stage, "whole", None).await?;
    ensure!(messages > 10, "{messages} messages");
    // a story with the real daemon takes seconds: every sixth message there, starting with the first
    let step = if matches!(executable, Executable::Droid(_)) { 6 } else { 1 };
    let stories = stream::iter((1..=messages).step_by(step)).map(|cut| {
        let stage = &stage;
        async move { story(stage, &format!("cut-{cut}"), Some(cut)).await.with_context(|| format!("cut after {cut}")) }
    });
    let outcomes: Vec<_> = stories.buffer_unordered(AT_ONCE).collect().await;
    let failures: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    stage.finish().await
}

/// Opens a session in a folder of its own, and runs a turn that asks for permission. Returns how many messages passed.
async fn story(stage: &Stage, name: &str, cut: Option<u32>) -> Result<u32> {
    let folder = stage.sandbox.workspace().join(name);
    fs_err::create_dir(&folder)?;
    let proxy = stage.proxy(name, cut)?;
    let daemon = match stage.connect(&proxy).await {
        Ok(daemon) => daemon,
        // cut before the daemon has answered the authentication
        Err(error) if cut.is_some() && error.is_connection() => stage.connect(&proxy).await?,
        Err(error) => return Err(error.into()),
    };
    let decide = |_| async { Decision::allow_once() };
    let session = timeout(TIMEOUT, stage.session(&daemon).cwd(&folder).on_permission(decide).open()).await??;
    let turn = async {
        loop {
            match session.send("append").await {
                Ok(result) => return anyhow::Ok(result),
                // not in the session, so this is not a second time
                Err(error) if cut.is_some() && error.is_disconnected() => {}
                Err(error) => return Err(error.into()),
            }
        }
    };
    let result = timeout(TIMEOUT, turn).await.context("the turn does not end")??;
    ensure!(result.end == TurnEnd::Completed, "{:?}", result.end);
    // droid's daemon does not send again what it sent while the connection was broken; the messages of the session have it
    let may_have_gap = cut.is_some() && stage.is_droid() && result.text.is_empty();
    ensure!(result.text == "It ran." || may_have_gap, "the answer is {:?}", result.text);
    let ran = fs_err::read_to_string(folder.join("ran.txt"))?;
    ensure!(ran == "ran\n", "it ran {} times", ran.lines().count());
    // the session still works, and knows each message once
    let loaded = answer(&session, "say hello").await?;
    ensure!(loaded == "Hello.", "{loaded}");
    let stored = daemon.session_messages(session.id().as_str(), 100).await?;
    for (text, what) in [("append", "prompts"), ("It ran.", "answers")] {
        let count = stored.iter().filter(|message| message.text() == text).count();
        ensure!(count == 1, "{count} {what}");
    }
    let messages = proxy.messages();
    // the number of messages varies a little, so the last cuts may not be reached
    let expected = if cut.is_some_and(|cut| messages > cut) { 2 } else { 1 };
    let connections = proxy.connections();
    ensure!((expected..=2).contains(&connections), "{connections} connections, {messages} messages");
    session.close().await?;
    daemon.close().await;
    Ok(messages)
}

pub(super) async fn daemon_that_restarts_gets_its_sessions_back(executable: &Executable) -> Result<()> {
    let mut stage = Stage::new(executable, script()).await?;
    let client = stage.client("first").await?;
    let idle = stage.session(&client.daemon).open().await?;
    assert_eq!(answer(&idle, "say hello").await?, "Hello.");
    let busy = stage.session(&client.daemon).open().await?;
    let mut turn = busy.send("append").ask_on_stream().start().await?;
    // killed while a turn waits for permission
    while !matches!(turn.next().await.context("it ended")??, Event::Permission(_)) {}
    let mut state = client.daemon.watch_state();
    stage.kill().await;
    timeout(TIMEOUT, state.wait_for(|state| *state != DaemonState::Connected)).await??;
    stage.start().await?;
    timeout(TIMEOUT, state.wait_for(|state| *state == DaemonState::Connected)).await??;

    // no turn hangs, and none is stuck
    let result = timeout(TIMEOUT, turn.finish()).await.context("the turn does not end")??;
    assert!(result.is_interrupted() || result.end != TurnEnd::Completed, "{:?}", result.end);
    assert_eq!(answer(&idle, "say hello").await?, "Hello.");
    assert_eq!(answer(&busy, "say hello").await?, "Hello.");
    assert!(!stage.sandbox.workspace().join("ran.txt").exists(), "no client allowed it");

    idle.close().await?;
    busy.close().await?;
    client.leave().await;
    stage.finish().await
}
