//! Interrupt: stop a turn.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/interrupt.jsonl")?.agent();
//! use musher::{Event, Session, StoppedBy, TurnEnd};
//!
//! let session = Session::builder().agent(droid).open().await?;
//! let mut turn = session.send("Write a long essay.").partial().start().await?;
//! while let Some(event) = turn.next().await {
//!     if let Event::TextDelta(_) = event? {
//!         break;
//!     }
//! }
//! let result = turn.interrupt().await?;
//! assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Caller)); // not a failure
//! println!("so far: {}", result.text);
//!
//! session.send("Something shorter.").await?;
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! Other ways to stop a turn: a [`CancellationToken`](crate::CancellationToken) (set with
//! [`Prompt::cancel_token`](crate::Prompt::cancel_token) or taken from [`Turn::cancel_token`](crate::Turn::cancel_token)), after which the
//! stream still runs to its end; dropping the turn; and limits of time and tokens ([`Prompt::timeout`](crate::Prompt::timeout),
//! [`stall_timeout`](crate::Prompt::stall_timeout), [`budget`](crate::Prompt::budget)).
