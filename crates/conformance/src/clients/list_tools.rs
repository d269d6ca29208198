//! `exec --list-tools` without a configured model: both list the available tools.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use testkit::peers::DROID;
use testkit::{Backend, Sandbox, droid, require_peer};

use crate::Executable;

/// Tools that droid lists because of its default model, which comes with an account; and the tools that musher lists instead.
const OF_ITS_MODEL: &[&str] = &["apply-patch-cli"];
/// Tools of droid's own services and of missions, which musher does not have.
const NOT_BUILT: &[&str] = &[
    "ConnectorSearch",
    "dismiss-handoff-items",
    "end-feature-run",
    "generate-droid-cli",
    "generate-image",
    "loop-cli",
    "propose-mission",
    "slack_post_file",
    "stage_settings_changes",
    "start-mission-run",
    "web_search",
];
const OF_OTHERS: &[&str] = &["create-cli", "edit-cli", "task-input-cli"];

pub(crate) async fn tools_are_listed_without_a_model(ours: &Executable) -> Result<()> {
    let theirs = listed(&Executable::Droid(require_peer!(DROID))).await?;
    let ours = listed(ours).await?;
    let missing: BTreeSet<&str> = theirs.difference(&ours).map(String::as_str).collect();
    assert_eq!(missing, OF_ITS_MODEL.iter().chain(NOT_BUILT).copied().collect());
    let more: Vec<_> = ours.difference(&theirs).map(String::as_str).collect();
    assert_eq!(more, OF_OTHERS);
    Ok(())
}

/// Returns the ids of the listed tools.
async fn listed(target: &Executable) -> Result<BTreeSet<String>> {
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    let launch = sandbox
        .launch(target.path())
        .args(["exec", "--list-tools", "--output-format", "json"])
        .env("MUSHER_HOME", sandbox.home().join(".factory"));
    let ended = sandbox.output(&droid::with_account(launch, &backend)).await?;
    ensure!(ended.status.success(), "{}: {}", target.name(), ended.stderr);
    drop(backend);
    sandbox.finish().await?;
    let tools: Value = serde_json::from_str(&ended.stdout.join("\n"))?;
    let ids = tools.as_array().context("it is a list")?.iter().map(|tool| tool["id"].as_str());
    ids.map(|id| Ok(id.context("a tool has an id")?.to_owned())).collect()
}
