//! The examples, run as programs, and the end of the agent when its host is killed.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use conformance::stage::{TIMEOUT, execute, on};
use conformance::{Executable, Stage, Target as _};
use serde_json::json;
use testkit::peers::DROID;
use testkit::rehearse::{Reply, Script, when};
use testkit::{Launch, require_peer};

/// A program in the sandbox that uses the droid: one of our examples.
fn example(stage: &Stage, droid: &Executable, name: &str) -> Launch {
    // this test is in `deps`, beside the folder of the examples, which are built with all targets
    let tests = std::env::current_exe().expect("a test has a path");
    let folder = tests.ancestors().nth(2).expect("a test is in a folder").join("examples");
    let program = folder.join(name);
    assert!(program.exists(), "{} is missing: run `cargo build --examples`", program.display());
    let launch = stage.sandbox().launch(program).env("MUSHER_AGENT", droid.path());
    testkit::droid::with_account(launch, stage.backend().expect("droid has one"))
}

/// Runs a program with these lines as its input; returns the lines of its output.
async fn output(stage: &Stage, launch: &Launch, input: &[&str]) -> Result<Vec<String>> {
    let mut program = stage.sandbox().spawn(launch)?;
    for line in input {
        program.send_line(line).await?;
    }
    let ended = program.end().await?;
    ensure!(ended.status.success(), "{}: {:?} {}", ended.status, ended.stdout, ended.stderr);
    Ok(ended.stdout)
}

#[tokio::test]
async fn one_shot_chat_and_fork() -> Result<()> {
    let script = Script::new()
        .reply(Reply::text("One file.").when(on("What is in", 1)))
        .reply(Reply::text("Hello.").when(on("Good morning", 1)))
        .reply(execute("ls", "low").when(on("Look", 1)))
        .reply(Reply::text("I see.").when(on("Look", 2)))
        .reply(Reply::text("Noted.").when(on("Remember", 1)))
        .reply(Reply::text("Sleigh.").when(on("playful", 1)))
        .reply(Reply::text("Agentkit.").when(on("serious", 1)));
    let droid = Executable::Droid(require_peer!(DROID));
    let stage = droid.stage(script)?;
    let lines = output(&stage, &example(&stage, &droid, "one_shot"), &[]).await?;
    assert_eq!(lines[0], "One file.");
    assert!(lines[1].starts_with('[') && lines[1].ends_with("out]"), "{lines:?}");

    let lines = output(&stage, &example(&stage, &droid, "chat"), &["Good morning!", "Look around."]).await?;
    assert_eq!(lines, ["Hello.", "[Execute]", "I see."]);

    let lines = output(&stage, &example(&stage, &droid, "fork"), &[]).await?;
    assert_eq!(lines[..2], ["playful: Sleigh.", "serious: Agentkit."]);
    assert!(lines[2].starts_with("The playful way: "), "{lines:?}");
    assert_eq!(lines[3], "again: Sleigh.");
    stage.finish().await
}

#[tokio::test]
async fn extract_guard_and_tools() -> Result<()> {
    let review = json!({"verdict": "Fine.", "risks": [{"file": "main.rs", "severity": 2}]});
    let script = Script::new()
        .reply(Reply::text(review.to_string()).when(on("Review", 1)))
        .reply(execute("date > today.txt", "medium").when(on("today.txt", 1)))
        .reply(Reply::tool("people___lookup", json!({"name": "Alice"})).when(on("Alice", 1)))
        .reply(Reply::text("Alice has 42.").when(on("Alice", 2)));
    let droid = Executable::Droid(require_peer!(DROID));
    let stage = droid.stage(script)?;
    assert_eq!(
        output(&stage, &example(&stage, &droid, "extract"), &[]).await?,
        ["Fine.", "main.rs (severity 2)"]
    );
    let lines = output(&stage, &example(&stage, &droid, "guard"), &[]).await?;
    assert_eq!(lines, ["no to Execute", "Interrupted(Denied): "]);
    assert_eq!(output(&stage, &example(&stage, &droid, "tools"), &[]).await?, ["Alice has 42.", "[1 calls]"]);
    stage.finish().await
}

#[tokio::test]
async fn questions_plan_and_watch() -> Result<()> {
    let questionnaire = "1. [question] Which colour?\n[topic] Colour\n[option] Red\n[option] Blue\n";
    let plan = json!({"plan": "1. Sweep.", "title": "Tidy"});
    let script = Script::new()
        .reply(Reply::tool("AskUser", json!({"questionnaire": questionnaire})).when(on("Ask me", 1)))
        .reply(Reply::text("Blue it is.").when(on("Ask me", 2).tool_result("Blue")))
        .reply(Reply::tool("ExitSpecMode", plan).when(on("Plan how", 1)))
        .reply(Reply::text("Swept.").when(on("Plan how", 2)))
        .reply(execute("ls", "low").when(when().with_tools().prompt("Run the tests")));
    let droid = Executable::Droid(require_peer!(DROID));
    let stage = droid.stage(script)?;
    let lines = output(&stage, &example(&stage, &droid, "questions"), &["2"]).await?;
    assert_eq!(lines, ["Which colour?", "  1. Red", "  2. Blue", "Blue it is."]);
    let lines = output(&stage, &example(&stage, &droid, "plan"), &[]).await?;
    let expected = ["The plan:", "1. Sweep.", "Completed: Swept.", "mode Some(Auto), autonomy Some(Low)"];
    assert_eq!(lines, expected);
    let lines = output(&stage, &example(&stage, &droid, "watch"), &[]).await?;
    assert!(lines.contains(&"tool Execute".to_owned()), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("Interrupted(Budget) after")), "{lines:?}");
    assert!(lines.last().is_some_and(|line| line.starts_with("context: ")), "{lines:?}");
    stage.finish().await
}

#[tokio::test]
async fn host_that_is_killed_leaves_no_agent() -> Result<()> {
    let script = Script::new()
        .reply(Reply::text(["Once ", "upon "]).and_hang().when(on("essay", 1)))
        .reply(execute("sleep 3223", "low").when(on("Sleep", 1)));
    let droid = Executable::Droid(require_peer!(DROID));
    let stage = droid.stage(script)?;
    let program = droid.path();
    // like the launcher of a package: the process that the host started is not the agent
    let wrapper = stage.sandbox().temp().join("wrapper");
    let quoted = program.display();
    fs_err::write(&wrapper, format!("#!/bin/sh\nexec 3<&0\n\"{quoted}\" \"$@\" <&3 &\nwait\n"))?;
    fs_err::set_permissions(&wrapper, Permissions::from_mode(0o755))?;
    // in the middle of an answer, and in the middle of a command
    for (example, prompt, sign, agent) in [
        ("one_shot", "An essay, please.", "droid", &program),
        ("one_shot", "An essay, please.", "droid", &wrapper),
        ("watch", "Sleep well.", "sleep 3223", &program),
        ("watch", "Sleep well.", "sleep 3223", &wrapper),
    ] {
        let asked = stage.model.calls().len();
        let launch = self::example(&stage, &droid, example).env("MUSHER_AGENT", agent).arg(prompt);
        let host = stage.sandbox().spawn(&launch)?;
        stage.model.wait_for_calls(asked + 1, TIMEOUT).await?;
        let alive =
            wait_for(&stage, TIMEOUT, |alive| alive.iter().any(|(_, command)| command.contains(sign)))
                .await?;
        let (pid, _) =
            alive.iter().find(|(_, command)| command.contains(example)).context("the host is there")?;
        stage.sandbox().output(&stage.sandbox().launch("kill").args(["-9", &pid.to_string()])).await?;
        // `host` lives on here: dropping it would kill more than it should
        wait_for(&stage, Duration::from_secs(5), <[_]>::is_empty).await?;
        drop(host);
    }
    stage.finish().await
}

/// Waits until the processes of the sandbox are as wanted.
async fn wait_for(
    stage: &Stage,
    within: Duration,
    wanted: impl Fn(&[(i32, String)]) -> bool,
) -> Result<Vec<(i32, String)>> {
    let deadline = Instant::now() + within;
    loop {
        let alive: Vec<_> = stage.sandbox().processes().into_iter().map(|it| (it.pid, it.command)).collect();
        if wanted(&alive) {
            return Ok(alive);
        }
        ensure!(Instant::now() < deadline, "still alive: {alive:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
