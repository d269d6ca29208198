//! Tools of your own: functions the agent can call.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/text_turn.jsonl")?.agent();
//! # #[cfg(feature = "mcp")] {
//! use musher::{Decision, InProcess, Permission, Session, Tools, sync};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Person {
//!     name: String,
//! }
//!
//! let tools = Tools::new().tool("lookup", "Looks a person up", |person: Person| async move {
//!     format!("{} is user 42", person.name)
//! });
//! let session = Session::builder()
//!     .agent(droid)
//!     .mcp_tools(InProcess::new("people", tools))
//!     .on_permission(sync(|_: Permission| Decision::allow_once()))
//!     .open()
//!     .await?;
//! session.send("Who is Alice?").await?;
//! session.close().await?;
//! # }
//! # Ok(()) }
//! ```
//!
//! They are served on loopback behind a random token, as long as the session lives. Agents ask before they call them, so a
//! [permission handler](super::permission) is needed. Any server of `rmcp` can be given in place of `Tools`. (Feature `mcp`, on by default.)
