//! Moves protocol frames: lines, child processes, WebSocket, memory pairs, and one peer that correlates ids.
//!
//! A [`Connection`] is a pair of bounded channels of frames, whatever is behind it: [`stdio`], a [`Child`], a WebSocket
//! ([`connect_websocket`], [`accept_websocket`]), any two byte streams ([`over`]) or another connection in [`memory`]. A [`Peer`] makes calls over it.
//! For dialects other than droid's the same transports carry plain lines: a [`LineConnection`] of [`Child::spawn_lines`], [`stdio_lines`] or [`lines_over`].
//!
//! ```
//! use std::time::Duration;
//! use musher_rpc::{Child, Launch, Peer};
//! use musher_wire::Json;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), musher_rpc::Error> {
//! // an agent that answers its first call and exits when its input ends
//! let script = r#"read -r l; id=${l#*'"id":"'}; echo '{"type":"response","id":"'"${id%%'"'*}"'","result":{"ok":true}}'; read -r l"#;
//! let (child, connection) = Child::spawn(Launch::new("sh").args(["-c", script])).await?;
//! let (peer, _inbox) = Peer::start(connection);
//! let result = peer.request("droid.list_tools", Json::empty_object(), Duration::from_secs(30)).await?;
//! assert_eq!(result.text(), r#"{"ok":true}"#);
//! child.close().await;
//! # Ok(()) }
//! ```
//!
//! What is not here: methods and their meaning, sessions, retries, and how a process and its tree are started and killed (`musher-process`).
//! No library above this crate touches stdin or stdout.

mod batch;
mod child;
mod connection;
mod error;
mod lines;
mod memory;
mod message;
mod peer;
mod pending;
mod pump;
mod queue;
mod scratch;
mod stdio;
mod stream;
mod websocket;

pub use batch::Batch;
pub use child::{Child, Exit, Launch};
pub use connection::{
    Connection, FrameReceiver, FrameSender, Limits, LineConnection, LineReceiver, LineSender,
    MessageReceiver, MessageSender, NotSent,
};
pub use error::{Closed, Error};
pub use lines::{DEFAULT_LINE_LIMIT, Line, LineSplitter, MAX_LINE_LIMIT};
pub use memory::{memory, memory_with};
pub use message::{Lines, Message, RawLine};
pub use musher_process::{ParentDeath, Spawner};
pub use peer::{Inbox, InboxLimits, Incoming, Peer, Stray, Watch};
pub use pending::{Pending, Settled};
pub use queue::Bound;
pub use stdio::{stdio, stdio_lines};
pub use stream::{lines_over, over};
pub use websocket::{Admission, Upgrade, WebSocketOptions, accept_websocket, connect_websocket};
