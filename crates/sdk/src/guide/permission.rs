//! Permission: allow or deny tool calls.
//!
//! The agent asks before each action that its [autonomy level](super::autonomy) does not cover. Answer where you read the turn:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/create_file.jsonl")?.agent();
//! use musher::wire::PermissionDetails;
//! use musher::{Event, Session};
//!
//! let session = Session::builder().agent(droid).open().await?;
//! let mut turn = session.send("Create hello.txt.").ask_on_stream().start().await?;
//! # let mut text = String::new();
//! while let Some(event) = turn.next().await {
//!     match event? {
//!         Event::Permission(pending) => {
//!             let is_new_file = |details: &PermissionDetails| matches!(details, PermissionDetails::Create(_));
//!             let is_safe = pending.request().tool_uses.iter().all(|it| is_new_file(&it.details));
//!             if is_safe { pending.allow_once() } else { pending.deny() }
//!         }
//!         Event::Result(result) => {
//!             println!("{}", result.text);
//! #           text = result.text;
//!         }
//!         _ => {}
//!     }
//! }
//! # assert_eq!(text, "Created.");
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! A dropped request is denied, so an ignored event costs only the tool call. The agent waits for the answer: do not
//! collect the events of such a turn. [`Pending::settled`](crate::Pending::settled) resolves when an answer no longer has an effect.
//!
//! Or give the session a handler, which answers the requests of all turns:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/tool_permission_cancel.jsonl")?.agent();
//! use musher::{Decision, PermissionRequest, Session};
//!
//! fn only_tests(request: PermissionRequest) -> Decision {
//!     match request.commands() {
//!         Some(commands) if commands.iter().all(|it| it.starts_with(&["cargo", "test"])) => Decision::allow_once(),
//!         _ => Decision::deny(),
//!     }
//! }
//!
//! let session = Session::builder().agent(droid).on_permission_sync(only_tests).open().await?;
//! let result = session.send("Run it.").await?;
//! # assert!(result.is_interrupted());
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! [`commands`](crate::PermissionRequest::commands) returns the simple commands of a command line, or nothing if the line is not fully
//! understood. Never approve a line by its prefix: `cargo -V; rm -rf .` begins with `cargo`.
//!
//! A handler is an async closure ([`on_permission`](crate::SessionBuilder::on_permission)), a plain one
//! ([`on_permission_sync`](crate::SessionBuilder::on_permission_sync)) or a type that implements
//! [`PermissionHandler`](crate::PermissionHandler). Without one, requests that no stream takes are denied. If a handler panics, takes longer than
//! [`handler_timeout`](crate::SessionBuilder::handler_timeout), or gives an answer that was not offered, the request is denied and
//! [`Event::HandlerFailed`](crate::Event::HandlerFailed) has the reason. A denial ends the turn, as
//! [`StoppedBy::Denied`](crate::StoppedBy::Denied). Every decision that the agent offers can be made with `Decision::from(outcome)`.
//! Requests that come while no turn runs, such as those of subagents in the background, are taken by
//! [`Session::requests`](crate::Session::requests).
