//! Token usage: live and in the end.
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
//!         Event::Usage(session) => println!("so far: {} tokens", session.token_usage.output_tokens),
//!         Event::Result(result) => {
//!             if let Some(usage) = result.usage {
//!                 println!("{} in, {} out", usage.input_tokens, usage.output_tokens);
//! #               total = usage.input_tokens.get();
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
//! The live counts are those of the whole session, the ones of the result are the turn's own. A [`Budget`](crate::Budget) stops a turn
//! that uses too many.
