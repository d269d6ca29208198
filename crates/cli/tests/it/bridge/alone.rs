//! `musher-bridge`, the small program. It shares its code with `musher bridge`, so only its start
//! and how it finds the engine are tested.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::stage::{Stage, eventually};

#[tokio::test]
async fn small_program_serves_sessions() -> anyhow::Result<()> {
    let mut stage = Stage::alone(&[])?;
    let app = &mut stage.app;
    let session = app.create("say hello", json!({})).await?;
    assert_eq!(app.message(&session, "said").await?["text"], "hello");
    stage.finish().await
}

#[tokio::test]
async fn without_an_engine_the_app_gets_an_error_and_other_sessions_continue() -> anyhow::Result<()> {
    let mut stage = Stage::alone(&["--engine", "/nowhere/musher"])?;
    let app = &mut stage.app;
    let asked = app.ask_for_session("hello", json!({"agent": "engine"})).await?;
    let reply = app.reply(&asked).await?;
    assert_eq!(reply["payload"]["code"], "SESSION_CREATE_FAILED", "{reply}");
    assert!(reply["payload"]["message"].as_str().unwrap().contains("/nowhere/musher"), "{reply}");
    let session = app.create("say hello", json!({})).await?;
    app.message(&session, "said").await?;
    stage.finish().await
}

#[tokio::test]
async fn engine_it_started_ends_with_a_killed_bridge() -> anyhow::Result<()> {
    let mut stage = Stage::alone(&[])?;
    stage.app.create("", json!({"agent": "engine"})).await?;
    let is_bridge = |command: &str| command.contains("musher-bridge");
    let running = stage.sandbox.processes();
    assert!(running.iter().any(|it| it.command.contains("musher exec")), "{running:?}");
    let bridge = running.iter().find(|it| is_bridge(&it.command)).unwrap();
    kill_process(Pid::from_raw(bridge.pid).unwrap(), Signal::KILL)?;
    eventually("all are gone", || stage.sandbox.processes().is_empty()).await;
    stage.finish_without_bridge().await
}

/// Code that can panic names its file, so the files of the engine tell whether it was linked. Debug information names folders only.
#[test]
fn engine_is_not_in_it() {
    let is_named = |program: &str| {
        let bytes = fs_err::read(program).unwrap();
        String::from_utf8_lossy(&bytes).contains("crates/engine/src/session/actor.rs")
    };
    assert!(is_named(env!("CARGO_BIN_EXE_musher")), "this is how to tell");
    assert!(!is_named(env!("CARGO_BIN_EXE_musher-bridge")), "it calls the engine");
}
