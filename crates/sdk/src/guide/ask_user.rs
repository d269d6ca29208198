//! Questions: answer the agent's questions.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/ask_user.jsonl")?.agent();
//! use musher::{Event, Session};
//!
//! let session = Session::builder().agent(droid).open().await?;
//! let mut turn = session.send("Help me to set this up.").ask_on_stream().start().await?;
//! # let mut text = String::new();
//! while let Some(event) = turn.next().await {
//!     match event? {
//!         Event::Question(pending) => {
//!             let first = pending.request().answer_all(|question| question.options.as_ref()?.first().cloned());
//!             pending.answer(first);
//!         }
//!         Event::Result(result) => {
//!             println!("{}", result.text);
//! #           text = result.text;
//!         }
//!         _ => {}
//!     }
//! }
//! # assert_eq!(text, "Thanks.");
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! Or give the session a handler with [`on_question`](crate::SessionBuilder::on_question). Unanswered questions are declined, which ends
//! the turn. Several choices of one question are joined by `, `.
