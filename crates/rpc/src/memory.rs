//! Two connections joined in memory, for tests and for an agent in the same process. Frames are passed, not printed.

use crate::connection::{Connection, Limits, pair};

/// Creates two connections that are each other's peer.
///
/// ```
/// use musher_rpc::memory;
/// use musher_wire::{Frame, Json, Notification};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), musher_rpc::Closed> {
/// let (client, mut agent) = memory();
/// let hello = Frame::Notification(Notification::new("hello", Json::empty_object()));
/// client.outgoing.send(hello.clone()).await?;
/// assert_eq!(agent.incoming.recv().await?, hello);
/// # Ok(()) }
/// ```
pub fn memory() -> (Connection, Connection) {
    memory_with(Limits::default(), Limits::default())
}

/// [`memory`] with limits for the messages that each of the two sends.
pub fn memory_with(first: Limits, second: Limits) -> (Connection, Connection) {
    pair(first, second)
}
