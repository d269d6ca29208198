//! The SDK and the engine in one process: every feature of the SDK's guide, over a connection in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::ffi::OsString;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Result;
use features::stage::{Nature, Stage};
use musher::{Agent, Connection, Connector};
use musher_engine::Environment;
use testkit::rehearse::{Reply, Script, Server};
use testkit::{Sandbox, engine};

/// The stage of the features: the engine in this process.
macro_rules! stage {
    ($script:expr) => {
        $crate::with_engine($script)?
    };
}

#[path = "../../../sdk/tests/it/features/mod.rs"]
mod features;

/// An engine in this process. The sandbox is only a place for its files; what it starts carries the mark and is looked for.
pub(crate) fn with_engine(script: Script) -> Result<Stage> {
    let sandbox = Sandbox::new()?;
    // side calls, such as for titles, must not fail
    let model = Server::bind("127.0.0.1:0", script.otherwise(Reply::text("A title")))?;
    engine::configure(&sandbox, &model.url())?;
    let home = sandbox.home();
    let variables: Vec<(OsString, OsString)> = sandbox.launch("musher").env;
    let environment = Environment::new(home.join(".musher"))
        .with_factory_home(home.join(".factory"))
        .with_variables(variables);
    let agent = Agent::connector(InProcess(Arc::new(environment)));
    Ok(Stage::new(sandbox, model, agent, Nature::InProcess))
}

#[derive(Debug)]
struct InProcess(Arc<Environment>);

impl Connector for InProcess {
    fn connect(&self) -> Pin<Box<dyn Future<Output = musher::Result<Connection>> + Send + '_>> {
        Box::pin(async { Ok(musher_server::connect(Arc::clone(&self.0))) })
    }
}
