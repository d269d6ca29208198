//! Questions: answering for the person.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/ask_user.jsonl")?.agent();
//! use musher::{Questions, Session, sync};
//!
//! let session = Session::builder()
//!     .agent(droid)
//!     .on_question(sync(|asked: Questions| asked.answer_all(|question| question.options.as_ref()?.first().cloned())))
//!     .open()
//!     .await?;
//! let result = session.send("Help me to set this up.").await?;
//! # assert_eq!(result.text, "Thanks.");
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! Without a handler questions are declined, which ends the turn. Several choices of one question are joined by `, `.
