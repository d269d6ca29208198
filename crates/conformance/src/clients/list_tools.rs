//! `exec --list-tools` where no model is set up: both list what there is.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use testkit::peers::DROID;
use testkit::{Backend, Sandbox, droid, require_peer};

use crate::Executable;

/// What droid lists because of the model that it takes by itself, which comes with an account; and what we list instead.
const OF_ITS_MODEL: &[&str] = &["apply-patch-cli"];
/// Tools of its own services and of missions, which are not built here.
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
const OF_OTHERS: &[&str] = &["create-cli", "edit-cli"];

pub(crate) async fn tools_are_listed_without_a_model(ours: &Executable) -> Result<()> {
    let theirs = listed(&Executable::Droid(require_peer!(DROID))).await?;
    let ours = listed(ours).await?;
    let missing: BTreeSet<&str> = theirs.difference(&ours).map(String::as_str).collect();
    assert_eq!(missing, OF_ITS_MODEL.iter().chain(NOT_BUILT).copied().collect());
    let more: Vec<_> = ours.difference(&theirs).map(String::as_str).collect();
    assert_eq!(more, OF_OTHERS);
    Ok(())
}

/// The ids of what is listed.
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
