//! The SDK and the engine in one process: every feature of the SDK's guide, over a in-memory connection.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::ffi::OsString;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Result;
use conformance::stage::Kind;
use conformance::{Stage, Target};
use musher::{Agent, Connection, Connector};
use musher_engine::Environment;
use testkit::rehearse::{Reply, Script, Server};
use testkit::{Sandbox, engine};

mod features {
    conformance::sdk_features!(crate::InProcess);
}

/// An engine in this process. The sandbox only holds its files; programs that the engine starts carry the mark, so the sandbox finds them.
struct InProcess;

impl Target for InProcess {
    fn stage(&self, script: Script) -> Result<Stage> {
        let sandbox = Sandbox::new()?;
        // additional model calls, such as for titles, must not fail
        let model = Server::bind("127.0.0.1:0", script.otherwise(Reply::text("A title")))?;
        engine::configure(&sandbox, &model.url())?;
        let home = sandbox.home();
        let variables: Vec<(OsString, OsString)> = sandbox.launch("musher").env;
        let environment = Environment::new(home.join(".musher"))
            .with_factory_home(home.join(".factory"))
            .with_variables(variables);
        let agent = Agent::connector(InMemory(Arc::new(environment)));
        Ok(Stage::new(sandbox, model, agent, Kind::InProcess))
    }
}

#[derive(Debug)]
struct InMemory(Arc<Environment>);

impl Connector for InMemory {
    fn connect(&self) -> Pin<Box<dyn Future<Output = musher::Result<Connection>> + Send + '_>> {
        Box::pin(async { Ok(musher_server::connect(Arc::clone(&self.0))) })
    }
}
