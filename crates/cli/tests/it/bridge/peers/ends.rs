//! However a session ends, the CLI and its tools are gone.

use musher_rehearse::{Reply, Script, when};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::peers::Installed;

use super::on_both;
use crate::bridge::stage::{Stage, eventually};

on_both! {
    kill_ends_the_running_tool, old_claude_a_kill_ends_the_running_tool => kill;
    a_killed_bridge_leaves_no_tool, old_claude_a_killed_bridge_leaves_no_tool => bridge_killed;
    end_of_input_ends_the_running_tool, old_claude_the_end_of_input_ends_the_running_tool => end_of_input;
    a_killed_cli_is_reported, old_claude_a_killed_cli_is_reported => cli_killed;
}

/// A bridge whose session runs a tool that does not end by itself.
async fn with_a_running_tool(claude: &Installed) -> anyhow::Result<(Stage, String)> {
    let bash = json!({"command": "sh long.sh", "description": "runs"});
    let script =
        Script::new().reply(Reply::tool("Bash", bash).when(when().call(1))).otherwise(Reply::text("Done."));
    let mut stage = Stage::real(claude, script, &[])?;
    let workspace = stage.sandbox.workspace();
    fs_err::write(workspace.join("long.sh"), "#!/bin/sh\ntouch running\nsleep 1000\n")?;
    let session = stage.app.create("Run it.", json!({})).await?;
    let question = stage.app.callback(&session).await?;
    stage.app.answer(&question, json!({"behavior": "allow"})).await?;
    eventually("the tool runs", || workspace.join("running").exists()).await;
    Ok((stage, session))
}

async fn kill(claude: Installed) -> anyhow::Result<()> {
    let (mut stage, session) = with_a_running_tool(&claude).await?;
    let id = stage.app.ask("session.kill", Some(&session), json!({})).await?;
    assert_eq!(stage.app.reply(&id).await?["type"], "session.killed");
    let left: Vec<_> = stage.sandbox.processes().into_iter().map(|it| it.command).collect();
    assert!(left.len() == 1 && left[0].contains("musher"), "{left:?}");
    stage.finish().await
}

async fn bridge_killed(claude: Installed) -> anyhow::Result<()> {
    let (stage, _session) = with_a_running_tool(&claude).await?;
    let bridge =
        stage.sandbox.processes().into_iter().find(|it| it.command.ends_with("musher bridge")).unwrap();
    kill_process(Pid::from_raw(bridge.pid).unwrap(), Signal::KILL)?;
    eventually("everything is gone", || stage.sandbox.processes().is_empty()).await;
    stage.finish_without_bridge().await
}

async fn end_of_input(claude: Installed) -> anyhow::Result<()> {
    let (stage, _session) = with_a_running_tool(&claude).await?;
    stage.finish().await
}

async fn cli_killed(claude: Installed) -> anyhow::Result<()> {
    let (mut stage, session) = with_a_running_tool(&claude).await?;
    let cli = stage
        .sandbox
        .processes()
        .into_iter()
        .find(|it| it.command.contains("--permission-prompt-tool"))
        .unwrap();
    kill_process(Pid::from_raw(cli.pid).unwrap(), Signal::KILL)?;
    let error = stage.app.error("SDK_ERROR").await?;
    assert_eq!((&error["session_id"], &error["payload"]["details"]["signal"]), (&json!(session), &json!(9)));
    eventually("only the bridge is left", || stage.sandbox.processes().len() == 1).await;
    stage.finish().await
}
