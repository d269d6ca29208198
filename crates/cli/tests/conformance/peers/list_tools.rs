//! `exec --list-tools` where no model is set up: both list what there is.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use testkit::peers::DROID;
use testkit::{Backend, Sandbox, droid, require_peer};

use crate::scenario::Target;

/// What droid lists because of the model that it takes by itself, which comes with an account; and what we list instead.
const OF_ITS_MODEL: &[&str] = &["apply-patch-cli"];
const OF_OTHERS: &[&str] = &["create-cli", "edit-cli"];

#[tokio::test]
async fn tools_are_listed_without_a_model() -> Result<()> {
    let theirs = listed(&Target::Droid(require_peer!(DROID))).await?;
    let ours = listed(&Target::Musher).await?;
    let missing: Vec<_> = theirs.difference(&ours).map(String::as_str).collect();
    assert_eq!(missing, OF_ITS_MODEL);
    let more: Vec<_> = ours.difference(&theirs).map(String::as_str).collect();
    assert_eq!(more, OF_OTHERS);
    Ok(())
}

/// The ids of what is listed.
async fn listed(target: &Target) -> Result<BTreeSet<String>> {
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    let launch = sandbox
        .launch(target.program())
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
