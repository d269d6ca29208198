//! Testing: agents that play a recording.
//!
//! Record a session once with the real agent, and run your tests against the recording: the same events in the same order, at once, with
//! no agent, no key and no cost.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("hello.jsonl");
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/text_turn.jsonl")?.agent();
//! use musher::{Replay, Session};
//!
//! // once
//! let session = Session::builder().agent(droid.record(&path)).open().await?;
//! session.send("Say hello.").await?;
//! session.close().await?;
//!
//! // in tests
//! let replay = Replay::load(&path)?;
//! let session = Session::builder().agent(replay.agent()).open().await?;
//! let answer = session.send("Say hello.").await?;
//! assert_eq!(answer.text, "Hello from the scripted model.");
//! session.close().await?;
//! replay.check()?; // all that was recorded was done, and nothing else
//! # Ok(()) }
//! ```
//!
//! A call that was not recorded fails at once; see [`Replay`](crate::Replay) for what may differ.
//! A program without `async` is served by [`blocking`](crate::blocking).
