//! Token usage: while a turn runs, and at its end.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/text_turn.jsonl")?.agent();
//! use musher::{Event, Session};
//!
//! let session = Session::builder().agent(droid).open().await?;
//! let mut turn = session.send("Sum this project up.").partial().start().await?;
//! # let mut total = 0;
//! while let Some(event) = turn.next().await {
//!     match event? {
//!         Event::Usage(session) => println!("so far: {} tokens", session.total.output_tokens),
//!         Event::Result(result) => {
//!             if let Some(usage) = result.usage {
//!                 println!("{} in, {} out", usage.input_tokens, usage.output_tokens);
//! #               total = usage.input_tokens;
//!             }
//!         }
//!         _ => {}
//!     }
//! }
//! # assert_eq!(total, 800);
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! The live counts cover the whole session, those of the result only the turn. A [`Budget`](crate::Budget) interrupts a turn
//! that uses too many.
