//! Streaming: the events of a turn.
//!
//! A started prompt is a [`Turn`](crate::Turn), a stream of [`Event`](crate::Event)s. It always ends, with the result or with an error.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/tool_permission_allow.jsonl")?.agent();
//! use musher::{Decision, Event, Session};
//!
//! let builder = Session::builder().agent(droid).on_permission_sync(|_| Decision::allow_once());
//! let session = builder.open().await?;
//! let mut turn = session.send("Run it.").start().await?;
//! # let mut ended = false;
//! while let Some(event) = turn.next().await {
//!     match event? {
//!         Event::Assistant(message) => println!("{}", message.text()),
//!         Event::ToolCall(call) => println!("[tool] {} {}", call.name, call.input),
//!         Event::ToolResult(outcome) => println!("[{}]", if outcome.is_error { "failed" } else { "ok" }),
//!         Event::Result(result) => {
//!             println!("done after {:?}", result.duration);
//! #           ended = true;
//!         }
//!         _ => {}
//!     }
//! }
//! # assert!(ended);
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! Other events are the user's messages, system notes, [hooks](super::hooks), errors, retries and retractions.
