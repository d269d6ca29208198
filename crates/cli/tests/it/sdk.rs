//! The SDK and `musher exec` as its agent: every feature of the SDK's guide.

use anyhow::Result;
use features::stage::{Nature, Stage};
use musher::Agent;
use testkit::rehearse::{Reply, Script};
use testkit::{Sandbox, engine};

/// The stage of the features: `musher exec`.
macro_rules! stage {
    ($script:expr) => {
        $crate::sdk::with_exec($script)?
    };
}

#[path = "../../../sdk/tests/it/features/mod.rs"]
mod features;
#[path = "../../../sdk/tests/it/features/program.rs"]
mod program;

/// The built program in a sandbox.
pub(crate) fn with_exec(script: Script) -> Result<Stage> {
    let sandbox = Sandbox::new()?;
    // side calls, such as for titles, must not fail
    let model = sandbox.model(script.otherwise(Reply::text("A title")))?;
    engine::configure(&sandbox, &model.url())?;
    let words = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
    let launch = sandbox.launch(env!("CARGO_BIN_EXE_musher")).args(words);
    let agent = Agent::launch(sandbox.agent(&launch));
    Ok(Stage::new(sandbox, model, agent, Nature::Program))
}
