//! The end of the bridge, in every way: it exits, and nothing is left.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::stage::{Stage, eventually};

fn pid_of_bridge(stage: &Stage) -> Pid {
    let bridge = stage.sandbox.processes().into_iter().find(|it| it.command.contains(" bridge")).unwrap();
    Pid::from_raw(bridge.pid).unwrap()
}

#[tokio::test]
async fn end_of_its_input_ends_all_sessions_and_all_output() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[])?;
    for _ in 0..3 {
        stage.app.create("", json!({})).await?;
    }
    stage.app.ask_for_session("", json!({})).await?;
    let ended = stage.app.program.end().await?;
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    let said: Vec<_> = ended.stdout.iter().filter(|line| line.contains("killed")).collect();
    assert_eq!(said, [] as [&String; 0]);
    stage.sandbox.finish().await
}

#[tokio::test]
async fn signals_end_it_as_well_even_without_a_reader() -> anyhow::Result<()> {
    for (signal, is_read) in [(Signal::TERM, true), (Signal::INT, true), (Signal::TERM, false)] {
        let mut stage = Stage::fake(&[], &[])?;
        let session = stage.app.create("", json!({})).await?;
        if !is_read {
            stage.app.say(&session, "many 60000 1000").await?;
            stage.until_the_agent_waits().await;
        }
        kill_process(pid_of_bridge(&stage), signal)?;
        eventually("everything is gone", || stage.sandbox.processes().is_empty()).await;
        stage.finish_without_bridge().await?;
    }
    Ok(())
}

#[tokio::test]
async fn app_that_closes_only_its_reading_side_ends_it() -> anyhow::Result<()> {
    let stage = Stage::fake(&[], &[])?;
    let claude = stage.sandbox.home().join("claude");
    let create = json!({"type": "session.create", "id": "1",
        "payload": {"prompt": "many 100000 100", "cwd": stage.sandbox.workspace()}});
    // a pipe with a name, so that the input stays open
    let shell = format!(
        "mkfifo input; (echo '{create}'; exec sleep 1000) > input & {} bridge < input | head -n 5; kill $!",
        env!("CARGO_BIN_EXE_musher")
    );
    let launch = stage.sandbox.launch("sh").args(["-c", &shell]).env("MUSHER_CLAUDE", claude);
    let ended = stage.sandbox.spawn(&launch)?.end().await?;
    assert_eq!(ended.stdout.len(), 5);
    stage.finish().await
}

#[tokio::test]
async fn killed_bridge_leaves_no_agent() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[])?;
    for _ in 0..3 {
        stage.app.create("say hello", json!({})).await?;
    }
    kill_process(pid_of_bridge(&stage), Signal::KILL)?;
    eventually("everything is gone", || stage.sandbox.processes().is_empty()).await;
    stage.finish_without_bridge().await
}

#[tokio::test]
async fn agent_that_ignores_every_signal_is_killed_in_the_end() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[("FAKE_IGNORE_SIGNALS", "1")])?;
    let session = stage.app.create("deaf", json!({})).await?;
    stage.app.message(&session, "deaf").await?;
    let kill = stage.app.ask("session.kill", Some(&session), json!({})).await?;
    assert_eq!(stage.app.reply(&kill).await?["type"], "session.killed");
    assert_eq!(stage.sandbox.processes().len(), 1, "only the bridge is left");
    let session = stage.app.create("deaf", json!({})).await?;
    stage.app.message(&session, "deaf").await?;
    stage.finish().await
}
