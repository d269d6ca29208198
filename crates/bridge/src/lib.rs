//! The NDJSON backend for apps in any language: agent sessions over stdin and stdout.
//!
//! A front end starts `musher bridge`, writes one JSON object per line and reads one per line. It can run many sessions at once, and is
//! asked before tools run. `docs/bridge.md` describes the protocol for readers, [`schema`] and [`typescript`] for programs.
//!
//! ```
//! use musher_bridge::{Config, run};
//! use musher_rpc::{Limits, lines_over};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let (mut front_end, ours) = tokio::io::duplex(4096);
//! let (reader, writer) = tokio::io::split(ours);
//! let bridge = tokio::spawn(run(Config::default(), lines_over(reader, writer, Limits::default()), std::future::pending()));
//! use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
//! front_end.write_all(b"hello?\n").await.unwrap();
//! front_end.shutdown().await.unwrap();
//! let mut answer = String::new();
//! front_end.read_to_string(&mut answer).await.unwrap();
//! assert!(answer.contains("INVALID_MESSAGE"));
//! bridge.await.unwrap();
//! # }
//! ```
//!
//! The data path: a line is parsed (`wire::request`) and routed by `dispatch` to the task that owns the session (`session`), which drives
//! an `agent`. Messages of the agent are passed on unchanged. The reader never waits for a session, and no session for another.

mod agent;
mod callback;
mod config;
mod dispatch;
mod options;
mod query;
mod session;
mod wire;

pub use config::{Config, EmbeddedEngine, Engine, HasModel};
pub use dispatch::run;
pub use wire::schema::schema;
pub use wire::typescript::typescript;
