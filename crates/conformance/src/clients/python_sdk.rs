//! The official Python SDK as the client: it must see the same of `musher exec` as of the real droid.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use testkit::peers::{DROID, Installed, PYTHON_SDK};
use testkit::rehearse::{Hang, HttpError, Reply, Script, Step, Usage, When, when};
use testkit::{Backend, Sandbox, droid, require_peer};

use crate::Executable;

const CLIENT: &str = include_str!("python_sdk.py");

pub(crate) async fn it_sees_no_difference(ours: &Executable) -> Result<()> {
    let python = require_peer!(PYTHON_SDK);
    let theirs = told(&python, &Executable::Droid(require_peer!(DROID))).await?;
    let ours = told(&python, ours).await?;
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let ours = without_own_tools(ours.clone());
        assert_eq!(ours, without_missing_tools(theirs.clone(), &ours), "musher, and droid");
    }
    assert_eq!(ours.len(), theirs.len());
    Ok(())
}

/// Removes tools that musher does not list from what the client prints of droid. `list_tools` checks which these may be.
fn without_missing_tools(mut theirs: Value, ours: &Value) -> Value {
    if theirs[0] == "tools"
        && let (Some(tools), Some(ours)) = (theirs[1].as_array_mut(), ours[1].as_array())
    {
        tools.retain(|tool| ours.iter().any(|our| our[0] == tool[0]));
    }
    theirs
}

/// Removes the tools that only musher has from what the client prints of it.
fn without_own_tools(mut ours: Value) -> Value {
    if ours[0] == "tools"
        && let Some(tools) = ours[1].as_array_mut()
    {
        tools.retain(|tool| tool[0] != "TaskInput");
    }
    ours
}

/// Returns what the client prints after its tour.
async fn told(python: &Installed, agent: &Executable) -> Result<Vec<Value>> {
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    let model = sandbox.model(script())?;
    droid::configure(&sandbox, &model.url())?;
    let client = sandbox.launch(python.entry()).args(["-c", CLIENT]).arg(agent.path());
    let client = droid::with_account(client, &backend).env("MUSHER_HOME", sandbox.home().join(".factory"));
    let ended = sandbox.output(&client).await?;
    ensure!(ended.status.success(), "with {}: {}\n{}", agent.name(), ended.stdout.join("\n"), ended.stderr);
    drop(backend);
    model.shutdown().await;
    sandbox.finish().await?;
    Ok(ended.stdout.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?)
}

fn script() -> Script {
    let command = |command: &str| {
        json!({
            "command": command, "summary": "Make an empty file", "timeout": 30,
            "riskLevel": "medium", "riskLevelReason": "it writes a file",
        })
    };
    let ask = |topic: &str| json!({"questionnaire": format!("1. [question] Which?\n[topic] {topic}\n[option] This\n[option] That\n")});
    Script::new()
        .reply(Reply::text("Hello again.").when(when().with_tools().prompt("after compaction")))
        .reply(
            Reply::error(HttpError::new(400).message("no such thing"))
                .when(when().with_tools().prompt("go wrong")),
        )
        .reply(Reply::text("A summary.").usage(usage(0, 0)).when(when().without_tools()))
        .reply(Reply::tool("Execute", command("touch made.txt")).when(on("run it", 1)))
        .reply(Reply::tool("Execute", command("touch refused.txt")).when(on("run what is refused", 1)))
        .reply(Reply::tool("AskUser", ask("Choice")).when(on("ask me", 1)))
        .reply(Reply::tool("AskUser", ask("Left")).when(on("ask and be left", 1)))
        .reply(Reply::tool("sdk___reverse", json!({"text": "stressed"})).when(on("use the tool", 1)))
        .reply(Reply::text(r#"{"number": 7}"#).when(when().with_tools().prompt("give a number")))
        .reply(Reply::text("Seven.").when(when().with_tools().prompt("give no number")))
        .reply(
            Reply::text(["Once", " upon"])
                .and(Step::Hang(Hang::AfterHeaders))
                .when(on("talk without end", 1)),
        )
        .reply(
            Reply::tool("ExitSpecMode", json!({"plan": "# Plan\n\nDo it.", "title": "The plan"}))
                .when(on("make a plan", 1)),
        )
        .otherwise(Reply::text("Hello.").usage(usage(100, 7)))
}

fn usage(input: u64, output: u64) -> Usage {
    Usage { input: Some(input), output: Some(output), ..Usage::default() }
}

fn on(prompt: &str, call: u32) -> When {
    when().with_tools().prompt(prompt).call(call)
}
