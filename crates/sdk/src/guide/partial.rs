//! Partial streaming: words as they are written.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/thinking_turn.jsonl")?.agent();
//! use musher::{Event, Session};
//!
//! let session = Session::builder().agent(droid).open().await?;
//! let mut turn = session.send("Explain recursion.").partial().start().await?;
//! # let mut text = String::new();
//! while let Some(event) = turn.next().await {
//!     match event? {
//!         Event::ThinkingDelta(delta) => eprint!("{}", delta.text_delta),
//!         Event::TextDelta(delta) => {
//!             print!("{}", delta.text_delta);
//! #           text.push_str(&delta.text_delta);
//!         }
//!         Event::Retracted { .. } => println!("\n(the last piece is void)"),
//!         _ => {}
//!     }
//! }
//! # assert_eq!(text, "Answer.");
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! The partial stream has the whole pieces, too, and progress of tools, token counts, states and settings. A slow reader gets fewer, larger
//! pieces of text; nothing else changes. Never parse the pieces of a [structured answer](super::structured_output): failed attempts are
//! among them.
