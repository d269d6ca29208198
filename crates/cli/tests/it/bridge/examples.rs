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
async fn the_python_front_end_plays_a_turn() -> anyhow::Result<()> {
    plays("python3", "front_end.py").await
}

#[tokio::test]
async fn the_node_front_end_plays_a_turn() -> anyhow::Result<()> {
    plays("node", "front_end.mjs").await
}
