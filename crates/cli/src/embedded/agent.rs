//! The engine of this process as an agent of the SDK: a connection in memory instead of a program.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use musher::{Agent, Connection, Connector};
use musher_engine::Environment;

/// Returns the agent in this process.
pub(crate) fn agent(environment: Arc<Environment>) -> Agent {
    Agent::connector(InProcess(environment))
}

/// Connects with the engine of this process.
struct InProcess(Arc<Environment>);

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InProcess")
    }
}

impl Connector for InProcess {
    fn connect(&self) -> Pin<Box<dyn Future<Output = musher::Result<Connection>> + Send + '_>> {
        Box::pin(async { Ok(musher_server::connect(Arc::clone(&self.0))) })
    }

    fn is_logged(&self) -> bool {
        true
    }
}
