//! A scripted model that serves the `OpenAI` and Anthropic APIs on loopback, or answers in process.
//!
//! No AI model is involved: a [`Script`] says which [`Reply`] answers which [`Call`]. Any coding agent with a configurable base URL can be
//! tested or demonstrated with it, without an account and without tokens.
//!
//! ```
//! use musher_rehearse::{Reply, Script, Server, when};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), musher_rehearse::Error> {
//! let script = Script::new()
//!     .reply(Reply::tool("Execute", json!({"command": "ls"})).when(when().prompt("list").call(1)))
//!     .reply(Reply::text("Two files.").when(when().tool_result("main.rs")))
//!     .otherwise(Reply::text("Hello."));
//! let server = Server::bind("127.0.0.1:0", script)?;
//! println!("ANTHROPIC_BASE_URL={}", server.url());
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! The layers. Each is usable alone, and knows only those above it in this list:
//!
//! - [`Script`]: the replies and when to use them; a value, built in Rust or read from YAML or JSON.
//! - [`Call`]: one model request, independent of the vendor's format.
//! - [`Rehearsal`]: a running script; [`Rehearsal::answer`] picks the reply and returns [`Event`]s with their
//!   delays as data. It does no IO and never sleeps, so an engine can use it as an in-process model.
//! - [`Api`]: the three vendor formats as pure functions, request body to [`Call`], [`Answer`] to [`Plan`].
//! - [`Server`]: plays plans to HTTP clients and records their requests.
//!
//! It is not a proxy, keeps no conversation state between requests, and does not check credentials.

mod answer;
mod apis;
mod call;
mod error;
mod plan;
mod recorder;
mod rehearsal;
mod script;
mod server;

pub use answer::{Answer, Block, Event, Fault, Source, Timed};
pub use apis::Api;
pub use call::{Call, ToolResult};
pub use error::Error;
pub use plan::{Chunk, End, Plan};
pub use recorder::{RecordedRequest, Recorder};
pub use rehearsal::Rehearsal;
pub use script::{
    Cut, Delay, Finish, Hang, HttpError, Pattern, Pieces, Reply, Script, Step, ToolCall, ToolResultMatcher,
    Usage, When, when,
};
pub use server::{Server, ServerBuilder};
