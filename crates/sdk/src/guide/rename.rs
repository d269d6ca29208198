//! Rename: set the title.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/close_session.jsonl")?.agent();
//! let session = musher::Session::builder().agent(droid).open().await?;
//! session.send("Refactor the login.").await?;
//! session.rename("Refactor auth module").await?;
//! println!("{:?}", session.state().title);
//! # assert!(session.state().title.is_some());
//! session.close().await?;
//! # Ok(()) }
//! ```
