//! Drive coding agents from Rust: one-shot runs, sessions, streams, handlers, structured output.
//!
//! Works with Factory's `droid` from 0.36 on, and with every agent that speaks its protocol.
//!
//! ```no_run
//! # async fn example() -> musher::Result<()> {
//! use musher::{Autonomy, Decision, Event, Permission, Session, sync};
//!
//! // one shot
//! let answer = musher::run("What is in this directory?").cwd("/workspace").await?;
//! println!("{}", answer.text);
//!
//! // a session, with a word in what the agent may do
//! let session = Session::builder()
//!     .cwd("/workspace")
//!     .autonomy(Autonomy::Low)
//!     .on_permission(sync(|asked: Permission| match asked.sole_command() {
//!         Some(command) if command.starts_with("cargo ") => Decision::allow_once(),
//!         _ => Decision::deny(),
//!     }))
//!     .open()
//!     .await?;
//! let mut turn = session.send("Run the tests and fix what fails.").partial().start().await?;
//! while let Some(event) = turn.next().await {
//!     match event? {
//!         Event::TextDelta(delta) => print!("{}", delta.text_delta),
//!         Event::ToolCall(call) => println!("[{}]", call.name),
//!         Event::Result(result) => println!("{:?}", result.end),
//!         _ => {}
//!     }
//! }
//! session.close().await
//! # }
//! ```
//!
//! What is promised: a turn's stream always ends, with a result or an error; nothing that needed consent runs without it;
//! agents never outlive the program; memory does not grow with a slow reader; what a newer agent sends is kept, not
//! dropped.

mod agent;
mod attachment;
pub mod blocking;
mod budget;
mod client;
mod error;
mod event;
#[cfg(feature = "schema")]
mod extract;
pub mod guide;
mod handlers;
#[cfg(feature = "mcp")]
mod mcp_server;
mod prompt;
mod record;
mod result;
mod run;
mod schema_check;
mod session;
mod sessions_on_disk;
mod turn;

pub use agent::{Agent, Connector};
pub use attachment::{Document, Image};
pub use budget::Budget;
pub use client::Client;
pub use error::{Error, Kind as ErrorKind, Result};
pub use event::{Event, Hook, HookProgress, ToolOutcome};
#[cfg(feature = "schema")]
pub use extract::Extract;
pub use handlers::{Decision, Permission, PermissionHandler, QuestionHandler, Questions, Reply, sync};
#[cfg(feature = "mcp")]
pub use mcp_server::{InProcess, ToolAnswer, Tools};
pub use musher_rpc::{Connection, Launch, Spawner, memory};
/// The protocol itself: every message as a type.
pub use musher_wire as wire;
pub use musher_wire::AutonomyLevel as Autonomy;
pub use prompt::Prompt;
pub use record::Replay;
pub use result::{FailureKind, StoppedBy, TurnEnd, TurnResult};
/// The MCP library whose servers can be tools of a session.
#[cfg(feature = "mcp")]
pub use rmcp;
pub use run::{Run, run};
pub use session::{Compacted, Notifications, ResumeBuilder, Session, SessionBuilder, SessionState};
pub use sessions_on_disk::{
    ListSessions, ReadSession, StoredConversation, StoredRecord, StoredSession, list_sessions, read_session,
};
pub use tokio_util::sync::CancellationToken;
pub use turn::Turn;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
