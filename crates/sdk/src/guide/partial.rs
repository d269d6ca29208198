//! Partial streaming: text as it is written.
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
//!         Event::ThinkingDelta(delta) => eprint!("{}", delta.text),
//!         Event::TextDelta(delta) => {
//!             print!("{}", delta.text);
//! #           text.push_str(&delta.text);
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
//! The partial stream also has the complete messages, and progress of tools, token counts, states and settings. A slow reader gets fewer, larger
//! deltas; nothing else changes. Never parse the deltas of a [structured answer](super::structured_output): failed attempts are
//! among them.
