//! Raw notifications: every message of the agent.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/text_turn.jsonl")?.agent();
//! let session = musher::Session::builder().agent(droid).open().await?;
//! let mut ends = session.notifications().only("agent_turn_completed");
//! session.send("Say hello.").await?;
//! let end = ends.next().await;
//! println!("{:?}", end.as_ref().and_then(|notification| notification.params.as_ref()));
//! # assert!(end.is_some());
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! A subscription begins when it is made, whether a turn runs or not, and ends with the session. A subscription that is read too slowly misses some,
//! and [counts them](crate::Notifications::missed). Dropping it ends it.
