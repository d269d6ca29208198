//! One-shot runs: one prompt, one result, nothing to close.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/text_turn.jsonl")?.agent();
//! let result = musher::run("What is 2 + 2?").cwd("/workspace").session(|session| session.agent(droid)).await?;
//! if result.is_error() {
//!     eprintln!("{:?}", result.errors);
//! } else {
//!     println!("{} ({:?})", result.text, result.duration);
//! }
//! # assert!(!result.is_error());
//! # Ok(()) }
//! ```
//!
//! A run takes every option of a session (by [`Run::session`](crate::Run::session)) and of a prompt, except the partial stream: there
//! is nothing to stream. [`TurnResult`](crate::TurnResult) has more than the text: see [errors](super::errors).
