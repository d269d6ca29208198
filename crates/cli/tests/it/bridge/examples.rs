//! The example front ends, run against the stand-in for the CLI.

use testkit::Launch;

use super::stage::Stage;

async fn plays(program: &str, script: &str) -> anyhow::Result<()> {
    let stage = Stage::fake(&[], &[])?;
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bridge");
    let example: Launch = stage
        .sandbox
        .launch(program)
        .arg(examples.join(script))
        .args(["--yes", "say hello from the agent\nask\nresult"])
        .env("MUSHER", env!("CARGO_BIN_EXE_musher"))
        .env("MUSHER_CLAUDE", stage.sandbox.home().join("claude"));
    let ended = stage.sandbox.output(&example).await?;
    let said = ended.stdout.join("\n");
    assert_eq!(ended.status.code(), Some(0), "{said} {}", ended.stderr);
    assert!(said.contains("Bash") && said.contains("done"), "{said}");
    stage.finish().await
}

#[tokio::test]
async fn python_front_end_plays_a_turn() -> anyhow::Result<()> {
    plays("python3", "front_end.py").await
}

#[tokio::test]
async fn node_front_end_plays_a_turn() -> anyhow::Result<()> {
    plays("node", "front_end.mjs").await
}

/// Runs a front end whose session cannot start, or whose turn fails. Returns what it writes to stderr.
async fn fails(program: &str, script: &str, agent: &str) -> anyhow::Result<String> {
    let sandbox = testkit::Sandbox::new()?;
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bridge");
    let example = sandbox.launch(program).arg(examples.join(script)).args(["--agent", agent, "say hello"]);
    let example = example
        .env("MUSHER", env!("CARGO_BIN_EXE_musher"))
        .env("MUSHER_CLAUDE", sandbox.home().join("no-claude"));
    let ended = sandbox.output(&example).await?;
    assert_eq!(ended.status.code(), Some(1), "{:?} {}", ended.stdout, ended.stderr);
    sandbox.finish().await?;
    Ok(ended.stderr)
}

#[tokio::test]
async fn front_ends_print_why_a_turn_has_failed_and_take_every_agent() -> anyhow::Result<()> {
    for (program, script) in [("python3", "front_end.py"), ("node", "front_end.mjs")] {
        let told = fails(program, script, "engine").await?;
        assert!(told.contains("model"), "{script}: {told}");
        let told = fails(program, script, "claude").await?;
        let expected = "install Claude Code, or set MUSHER_CLAUDE to its path";
        assert!(told.contains("no-claude`") && told.contains(expected), "{script}: {told}");
    }
    Ok(())
}
