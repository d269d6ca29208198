//! A scripted model that serves the `OpenAI` and Anthropic APIs on loopback, or answers in process.
//!
//! There is no intelligence in here: a [`Script`] says which [`Reply`] comes for which [`Call`]. Any coding agent
//! that can be pointed at another base URL can be tested or shown with it, without an account and without tokens.
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
//! The layers, each usable alone and each knowing only those above it in this list:
//!
//! - [`Script`]: what is replied when; a value, built in Rust or read from YAML or JSON.
//! - [`Call`]: one request to a model, whichever vendor's format it came in.
//! - [`Rehearsal`]: a script being played; [`Rehearsal::answer`] picks the reply and returns [`Event`]s with their
//!   delays as data. It does no IO and never sleeps, so an engine can use it as a model in process.
//! - [`Api`]: the three vendor formats as pure functions, request body to [`Call`], [`Answer`] to [`Plan`].
//! - [`Server`]: plays plans to HTTP clients and records what they asked.
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
