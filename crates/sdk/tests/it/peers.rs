//! The features of the guide on the real droid; and what only it can show: old versions, its own files, our examples.

use anyhow::Result;
use musher::Agent;
use testkit::peers::Installed;
use testkit::rehearse::{Reply, Script};
use testkit::{Backend, Sandbox, droid};

use features::stage::{Nature, Stage};

/// The stage of the features: the newest droid.
macro_rules! stage {
    ($script:expr) => {
        $crate::peers::with_droid(&testkit::require_peer!(testkit::peers::DROID), $script)?
    };
}

mod examples;
#[path = "features/mod.rs"]
mod features;
mod old_droid;
#[path = "features/program.rs"]
mod program;
mod python_list;

/// A droid in a sandbox.
pub(crate) fn with_droid(installed: &Installed, script: Script) -> Result<Stage> {
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    // side calls, such as for titles, must not fail
    let model = sandbox.model(script.otherwise(Reply::text("A title")))?;
    let launch = droid::launch(&sandbox, installed, &model.url(), &backend)?;
    let agent = Agent::launch(sandbox.agent(&launch));
    Ok(Stage::new(sandbox, model, agent, Nature::Droid(backend)))
}
