//! Drive coding agents from Rust: one-shot runs, sessions, streams, permission requests, structured output.
//!
//! Works with Factory's `droid` 0.36 and later, and with every agent that speaks its protocol.
//!
//! ```no_run
//! # async fn example() -> musher::Result<()> {
//! use musher::{Autonomy, Event, Session};
//!
//! // one shot
//! let answer = musher::run("What is in this directory?").cwd("/workspace").await?;
//! println!("{}", answer.text);
//!
//! // a session; the agent's requests come on the stream of the turn
//! let session = Session::builder().cwd("/workspace").autonomy(Autonomy::Low).open().await?;
//! let mut turn = session.send("Run the tests and fix what fails.").partial().ask_on_stream().start().await?;
//! while let Some(event) = turn.next().await {
//!     match event? {
//!         Event::TextDelta(delta) => print!("{}", delta.text),
//!         Event::ToolCall(call) => println!("[{}]", call.name),
//!         Event::Permission(pending) => match pending.request().commands() {
//!             Some(commands) if commands.iter().all(|it| it.starts_with(&["cargo", "test"])) => pending.allow_once(),
//!             _ => pending.deny(),
//!         },
//!         Event::Result(result) => println!("{:?}", result.end),
//!         _ => {}
//!     }
//! }
//! session.close().await
//! # }
//! ```
//!
//! The guarantees: the stream of a turn always ends, with a result or an error. A tool call that needs permission does not run without it.
//! Agents do not outlive the program. A slow reader costs a bounded amount of memory. Unknown messages and fields of newer agents are kept.
//!
//! # Features
//!
//! - `schema` (default): [`Session::extract`], answers as Rust types.
//! - `mcp`: `McpServer`, tools of this process for the agent.
//! - `daemon`: `Daemon`, many sessions on one connection to `musher daemon` or `droid daemon`; `daemon-tls` adds `wss://`.
//! - `rest`: the module `rest` with computers, machine templates and remote sessions of the vendor's REST API.

mod agent;
mod attachment;
pub mod blocking;
mod budget;
mod client;
#[cfg(feature = "daemon")]
mod daemon;
mod editor;
mod error;
mod event;
mod event_types;
#[cfg(feature = "schema")]
mod extract;
pub mod guide;
mod handlers;
#[cfg(feature = "mcp")]
mod mcp_server;
mod prompt;
mod record;
mod requests;
#[cfg(feature = "rest")]
pub mod rest;
mod result;
mod run;
mod schema_check;
mod session;
mod sessions_on_disk;
mod turn;
mod usage;

pub use agent::{Agent, Connector};
pub use attachment::{Document, Image};
pub use budget::Budget;
pub use client::Client;
#[cfg(feature = "daemon")]
pub use daemon::{
    ConnectDaemon, Daemon, DaemonNotifications, DaemonState, InboxItem, InboxRequest, SessionHits,
    SessionInfo,
};
pub use editor::{EditorAnswer, EditorHandler};
pub use error::{Error, Kind as ErrorKind, Result};
pub use event::Event;
pub use event_types::{HookProgress, HookRun, Retry, TextDelta, ThinkingDelta, ToolCall, ToolOutcome};
#[cfg(feature = "schema")]
pub use extract::Extract;
pub use handlers::{PermissionHandler, QuestionHandler};
#[cfg(feature = "mcp")]
pub use mcp_server::{IntoToolResult, McpServer, McpTools};
/// The protocol itself: every message as a type.
pub use musher_wire as wire;
pub use musher_wire::AutonomyLevel as Autonomy;
pub use prompt::Prompt;
pub use record::Replay;
pub use requests::{
    Answers, Decision, Mismatch, Pending, PendingPermission, PendingQuestion, PendingRequest,
    PermissionChoice, PermissionRequest, QuestionRequest, Requests, SessionGrant, SessionGrants,
    SimpleCommand,
};
pub use result::{FailureKind, StoppedBy, TurnEnd, TurnResult};
/// The MCP library whose servers an [`McpServer`] can serve.
#[cfg(feature = "mcp")]
pub use rmcp;
pub use run::{Run, run};
/// The library of JSON Schemas, for types that are [extracted](Session::extract): `#[schemars(crate = "musher::schemars")]`.
#[cfg(feature = "schema")]
pub use schemars;
/// The library that reads such types: `#[serde(crate = "musher::serde")]`.
pub use serde;
/// The JSON library of this crate.
pub use serde_json;
pub use session::{
    Compact, Compaction, EnterSpecMode, Follow, Fork, Notifications, ResumeBuilder, Session, SessionBuilder,
    SessionId, SessionState,
};
pub use sessions_on_disk::{
    ListSessions, ReadSession, StoredConversation, StoredRecord, StoredSession, list_sessions, read_session,
};
pub use tokio_util::sync::CancellationToken;
pub use transport::{Connection, Launch, Spawner};
pub use turn::Turn;
pub use usage::{Cost, SessionUsage, TokenUsage};

pub mod transport {
    //! Connections to agents, for a [`Connector`](crate::Connector) and for tests.
    //!
    //! ```
    //! # #[tokio::main(flavor = "current_thread")] async fn main() {
    //! use musher::{Agent, transport};
    //!
    //! // one end for the session, the other for an agent in the same process
    //! let (ours, theirs) = transport::memory();
    //! let agent = Agent::connection(ours);
    //! # drop((agent, theirs)); }
    //! ```

    pub use musher_rpc::{Connection, Launch, Spawner, memory};
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// pages of the repository, which are not part of the package
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/sdk.md")]
struct GuidePage;

#[cfg(all(doctest, feature = "daemon", feature = "rest"))]
#[doc = include_str!("../../../docs/guide/daemon-client.md")]
struct DaemonPage;
