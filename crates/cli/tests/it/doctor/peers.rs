//! The real agents, asked for nothing but their version.

use serde_json::Value;
use testkit::Sandbox;

#[tokio::test]
async fn real_agents_are_listed_with_their_versions() -> anyhow::Result<()> {
    let droid = testkit::require_peer!(testkit::peers::DROID);
    let claude = testkit::require_peer!(testkit::peers::CLAUDE);
    let sandbox = Sandbox::new()?;
    let launch = sandbox
        .launch(env!("CARGO_BIN_EXE_musher"))
        .args(["doctor", "--json"])
        .env("MUSHER_DROID", droid.entry())
        .env("MUSHER_CLAUDE", claude.entry());
    let ended = sandbox.output(&launch).await?;
    let told: Value = serde_json::from_str(&ended.stdout.join("\n"))?;
    for (index, version) in [(1, testkit::peers::DROID.version), (2, testkit::peers::CLAUDE.version)] {
        let check = &told["checks"][index];
        assert_eq!(check["state"], "ok", "{check}");
        assert!(check["text"].as_str().unwrap().contains(version), "{check}");
    }
    sandbox.finish().await
}
