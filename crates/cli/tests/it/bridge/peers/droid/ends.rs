//! Whatever stops droid, and however: the app gets an error, and no process is left.

use anyhow::Result;
use musher_rehearse::{Reply, Script};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::peers::{DROID, Installed};
use testkit::require_peer;

use super::{execute, on, options};
use crate::bridge::stage::{Stage, eventually};

/// A bridge whose session runs a tool that does not end by itself.
async fn with_a_running_tool(droid: &Installed) -> Result<(Stage, String)> {
    let script = Script::new()
        .reply(execute("touch running; sleep 1000").when(on("Run", 1)))
        .reply(Reply::text("Never.").when(on("Run", 2)))
        .reply(Reply::text("Still here.").when(on("there", 1)));
    let mut stage = Stage::droid(droid, script, &[])?;
    let workspace = stage.sandbox.workspace();
    let session = stage.app.create("Run it.", options(json!({"permission_mode": "auto"}))).await?;
    eventually("the tool runs", || workspace.join("running").exists()).await;
    Ok((stage, session))
}

#[tokio::test]
async fn interrupt_is_answered_before_the_result_and_the_session_continues() -> Result<()> {
    let (mut stage, session) = with_a_running_tool(&require_peer!(DROID)).await?;
    let app = &mut stage.app;
    let id = app.ask("session.interrupt", Some(&session), json!({})).await?;
    assert_eq!(app.reply(&id).await?["type"], "session.interrupted");
    let result = app.message(&session, "result").await?;
    assert_eq!(
        (&result["subtype"], &result["terminal_reason"], &result["is_error"]),
        (&json!("error_during_execution"), &json!("aborted_tools"), &json!(true))
    );
    app.say(&session, "Are you there?").await?;
    assert_eq!(app.message(&session, "result").await?["result"], "Still here.");
    let idle = app.ask("session.interrupt", Some(&session), json!({})).await?;
    assert_eq!(app.reply(&idle).await?["type"], "session.interrupted");
    stage.finish().await
}

#[tokio::test]
async fn interrupt_takes_an_open_question_back() -> Result<()> {
    let script = Script::new().reply(execute("touch x").when(on("Run", 1)));
    let mut stage = Stage::droid(&require_peer!(DROID), script, &[])?;
    let app = &mut stage.app;
    let session = app.create("Run it.", options(json!({}))).await?;
    let question = app.callback(&session).await?;
    let id = app.ask("session.interrupt", Some(&session), json!({})).await?;
    assert_eq!(app.reply(&id).await?["type"], "session.interrupted");
    app.message(&session, "result").await?;
    app.answer(&question, json!({"behavior": "allow"})).await?;
    assert_eq!(app.error("CALLBACK_NOT_FOUND").await?["id"], question["id"]);
    stage.finish().await
}

#[tokio::test]
async fn kill_ends_the_running_tool() -> Result<()> {
    let (mut stage, session) = with_a_running_tool(&require_peer!(DROID)).await?;
    let id = stage.app.ask("session.kill", Some(&session), json!({})).await?;
    assert_eq!(stage.app.reply(&id).await?["type"], "session.killed");
    let left: Vec<_> = stage.sandbox.processes().into_iter().map(|it| it.command).collect();
    assert!(left.len() == 1 && left[0].contains("musher"), "{left:?}");
    stage.finish().await
}

#[tokio::test]
async fn end_of_input_ends_the_running_tool() -> Result<()> {
    let (stage, _session) = with_a_running_tool(&require_peer!(DROID)).await?;
    stage.finish().await
}

#[tokio::test]
async fn droid_that_dies_is_reported_whether_busy_or_idle() -> Result<()> {
    let script = Script::new().reply(execute("touch x").when(on("Run", 1)));
    let mut stage = Stage::droid(&require_peer!(DROID), script, &[])?;
    for prompt in ["", "Run it."] {
        let session = stage.app.create(prompt, options(json!({}))).await?;
        if !prompt.is_empty() {
            stage.app.callback(&session).await?;
        }
        let droids = stage.sandbox.processes().into_iter().filter(|it| it.command.contains("stream-jsonrpc"));
        for droid in droids {
            kill_process(Pid::from_raw(droid.pid).unwrap(), Signal::KILL)?;
        }
        let error = stage.app.error("SDK_ERROR").await?;
        assert_eq!((&error["session_id"], error.get("id")), (&json!(session), None));
        assert_eq!(error["payload"]["details"]["signal"], 9, "{error}");
        let id = stage.app.say(&session, "Hello?").await?;
        assert_eq!(stage.app.reply(&id).await?["payload"]["code"], "SESSION_NOT_FOUND");
    }
    stage.finish().await
}
