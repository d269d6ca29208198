//! Tools of your own: functions that the agent can call.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/text_turn.jsonl")?.agent();
//! # #[cfg(feature = "mcp")] {
//! use musher::{Decision, McpServer, McpTools, Session};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Person {
//!     name: String,
//! }
//!
//! let tools = McpTools::new().tool("lookup", "Looks a person up", |person: Person| async move {
//!     format!("{} is user 42", person.name)
//! });
//! let session = Session::builder()
//!     .agent(droid)
//!     .serve_mcp(McpServer::new("people", tools))
//!     .on_permission_sync(|_| Decision::allow_once())
//!     .open()
//!     .await?;
//! session.send("Who is Alice?").await?;
//! session.close().await?;
//! # }
//! # Ok(()) }
//! ```
//!
//! An [`rmcp`](https://docs.rs/rmcp) server on loopback behind a random token serves them while the session is open. Agents ask before they call them, so a
//! [permission handler](super::permission) is needed. Any `rmcp` server can replace `McpTools`. This needs the feature `mcp`:
//! `cargo add musher --features mcp`.
