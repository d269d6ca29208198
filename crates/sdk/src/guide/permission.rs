//! Permission: a word in what the agent may do.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/create_file.jsonl")?.agent();
//! use musher::wire::PermissionDetails;
//! use musher::{Decision, Permission, Session, sync};
//!
//! fn only_new_files(asked: Permission) -> Decision {
//!     let is_safe = asked.tool_uses.iter().all(|it| matches!(it.details, PermissionDetails::Create(_)));
//!     if is_safe { Decision::allow_once() } else { Decision::deny() }
//! }
//!
//! let session = Session::builder().agent(droid).on_permission(sync(only_new_files)).open().await?;
//! let result = session.send("Create hello.txt.").await?;
//! # assert_eq!(result.text, "Created.");
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! Without a handler everything is refused. A handler is a function, an async closure or anything that implements
//! [`PermissionHandler`](crate::PermissionHandler); it may take its time and holds nothing up. If it panics, takes longer than
//! [`handler_timeout`](crate::SessionBuilder::handler_timeout), or answers what was not offered, that is a no and
//! [`Event::HandlerFailed`](crate::Event::HandlerFailed) tells why. A no ends the turn, as
//! [`StoppedBy::Denied`](crate::StoppedBy::Denied). Every answer the agent offers can be given by `Decision::from(outcome)`.
