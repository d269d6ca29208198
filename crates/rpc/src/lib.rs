//! Moves protocol frames: lines, child processes, WebSocket, memory pairs, and one peer that correlates ids.
//!
//! A [`Connection`] is a pair of bounded queues of frames over any transport: [`stdio`], a [`Child`], any two byte streams
//! ([`over`]), another connection in [`memory`], or a WebSocket (feature `websocket`). A [`Peer`] makes calls over it.
//! For other protocols than droid's the same transports carry plain lines: a [`LineConnection`] of [`Child::spawn_lines`],
//! [`stdio_lines`] or [`lines_over`].
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
//! Not here: methods and their meaning, sessions, retries, and how a process and its tree are started and killed (`musher-process`).
//! No library above this crate touches stdin or stdout.

mod child;
mod connection;
mod error;
mod lines;
mod memory;
mod message;
mod peer;
mod pump;
mod queue;
mod stdio;
mod stream;
#[cfg(feature = "websocket")]
mod websocket;

pub use child::{Child, Exit, Launch};
pub use connection::{
    Connection, FrameReceiver, FrameSender, Limits, LineConnection, LineReceiver, LineSender,
    MessageReceiver, MessageSender,
};
pub use error::{Closed, Error, with_causes};
pub use lines::{DEFAULT_LINE_LIMIT, Line, LineSplitter, MAX_LINE_LIMIT};
pub use memory::{memory, memory_with};
pub use message::{Lines, Message, RawLine};
pub use musher_process::{ParentDeath, Spawner};
pub use peer::{Inbox, InboxLimits, Incoming, Peer, Stray, Watch};
pub use queue::{Bound, NotSent};
pub use stdio::{stdio, stdio_lines};
pub use stream::{lines_over, over};
#[cfg(feature = "websocket")]
pub use websocket::{
    Admission, Upgrade, WebSocketOptions, accept_websocket, connect_websocket, connect_websocket_over,
};
