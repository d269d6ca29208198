//! Hooks: watch the commands that run around tools.
//!
//! Hooks are configured in the agent's own settings; the SDK can watch them.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/hooks.jsonl")?.agent();
//! use musher::{Event, HookProgress, Session};
//!
//! let session = Session::builder().agent(droid).open().await?;
//! let mut turn = session.send("Make a new file.").start().await?;
//! # let mut hooks = 0;
//! while let Some(event) = turn.next().await {
//!     if let Event::Hook(hook) = event? {
//! #       hooks += 1;
//!         match hook.status {
//!             HookProgress::Started { .. } => println!("[hook] {}", hook.command),
//!             HookProgress::Ended { exit_code, .. } => println!("[hook] ended with {exit_code:?}"),
//!             _ => {}
//!         }
//!     }
//! }
//! # assert!(hooks > 0);
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! Hooks at the start of a session run before it is open:
//! [`SessionBuilder::open_watched`](crate::SessionBuilder::open_watched) opens it together with all notifications from its start.
