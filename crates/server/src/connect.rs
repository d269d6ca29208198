//! Starts an agent in the same process, behind an ordinary connection.

use std::sync::Arc;

use musher_engine::{Environment, start};
use musher_rpc::{Connection, memory};

use crate::serve;

/// Starts an agent and connects to it. Must be called within a Tokio runtime; the agent ends when the connection is dropped.
///
/// ```
/// use std::sync::Arc;
/// use musher_engine::Environment;
/// use musher_rpc::Peer;
/// use musher_wire::{ListModels, Method};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// let connection = musher_server::connect(Arc::new(Environment::new(home.path())));
/// let (peer, _inbox) = Peer::start(connection);
/// let models = peer.call::<ListModels>(&Default::default()).await?;
/// assert!(models.models.is_empty());
/// # Ok(()) }
/// ```
pub fn connect(environment: Arc<Environment>) -> Connection {
    let (client, server) = memory();
    let (agent, events) = start(environment);
    // serving ends with the connection
    drop(tokio::spawn(serve(server, agent, events)));
    client
}
