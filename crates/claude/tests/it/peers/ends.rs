//! The end of a session: nothing is left, whatever is running.

use musher_claude::{Error, Handlers, Options, Permission, View};
use musher_rehearse::{Reply, Script, when};
use serde_json::json;
use testkit::Leftover;
use testkit::peers::Installed;

use super::stage::{Stage, on_both, soon};

on_both! {
    running_tool_ends_with_the_session, old_claude_running_tool_ends_with_the_session => busy_tool;
    dropped_session_leaves_nothing, old_claude_dropped_session_leaves_nothing => dropped;
    killed_cli_is_reported, old_claude_killed_cli_is_reported => killed;
}

/// A script that signals its start and then runs for a long time: newer versions reject a plain `sleep`.
fn long_tool(stage: &Stage) -> anyhow::Result<()> {
    let script = "#!/bin/sh\ntouch running\nsleep 1000\n";
    fs_err::write(stage.sandbox.workspace().join("long.sh"), script)?;
    Ok(())
}

fn runs_long() -> Script {
    let bash = json!({"command": "sh long.sh", "description": "runs"});
    Script::new().reply(Reply::tool("Bash", bash).when(when().call(1))).otherwise(Reply::text("Done."))
}

async fn until_it_runs(stage: &Stage) {
    let file = stage.sandbox.workspace().join("running");
    soon(async {
        while !file.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
}

async fn busy_tool(claude: Installed) -> anyhow::Result<()> {
    let stage = Stage::new(claude, runs_long())?;
    long_tool(&stage)?;
    let handlers = Handlers::new().on_permission(|_| async { Permission::allow() });
    let (session, _messages) = soon(stage.start(Options::new(), handlers)).await?;
    session.send("Run it.").await?;
    until_it_runs(&stage).await;
    soon(session.close()).await?;
    assert_eq!(stage.sandbox.processes(), []);
    stage.finish().await
}

async fn dropped(claude: Installed) -> anyhow::Result<()> {
    let stage = Stage::new(claude, runs_long())?;
    long_tool(&stage)?;
    let handlers = Handlers::new().on_permission(|_| async { Permission::allow() });
    let (session, messages) = soon(stage.start(Options::new(), handlers)).await?;
    session.send("Run it.").await?;
    until_it_runs(&stage).await;
    drop((session, messages));
    soon(async {
        while !stage.sandbox.processes().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
    stage.finish().await
}

async fn killed(claude: Installed) -> anyhow::Result<()> {
    let script = Script::new().otherwise(Reply::text("Once ").and_hang());
    let stage = Stage::new(claude, script)?;
    let (session, mut messages) =
        soon(stage.start(Options::new().with_partial_messages(), Handlers::new())).await?;
    session.send("Tell a story.").await?;
    soon(async {
        while !matches!(messages.next().await?.view(), View::StreamEvent(_)) {}
        Ok::<_, Error>(())
    })
    .await?;
    // the guard of the process runs there too
    let is_cli = |process: &&Leftover| process.command.contains("--input-format=stream-json");
    let pid = stage.sandbox.processes().iter().find(is_cli).map(|cli| cli.pid).unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::Signal::KILL,
    )?;
    let error = soon(async {
        loop {
            if let Err(error) = messages.next().await {
                return error;
            }
        }
    })
    .await;
    assert!(matches!(error, Error::Exited(_)), "{error:?}");
    assert!(matches!(session.send("Hello?").await, Err(Error::Exited(_))));
    soon(session.close()).await?;
    stage.finish().await
}
