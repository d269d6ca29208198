//! Errors: failed calls and failed turns.
//!
//! A failed turn is a value: it has a result like any other turn, which says that it failed.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/model_error_401.jsonl")?.agent();
//! use musher::{FailureKind, TurnEnd};
//!
//! let result = musher::run("Do something.").session(|session| session.agent(droid)).await?;
//! match &result.end {
//!     TurnEnd::Completed | TurnEnd::HandedOver => println!("{}", result.text),
//!     TurnEnd::Interrupted(by) => println!("stopped by {by:?}"),
//!     TurnEnd::Failed(FailureKind::StructuredOutput(reason)) => println!("no valid answer: {reason}"),
//!     TurnEnd::Failed(FailureKind::Refusal) => println!("refused: {:?}", result.errors),
//!     TurnEnd::Failed(reason) => println!("failed: {reason:?} {:?}", result.errors),
//!     _ => {}
//! }
//! # assert!(result.is_error());
//! # assert_eq!(result.subtype(), "error_during_execution");
//! # Ok(()) }
//! ```
//!
//! [`TurnResult::ok`](crate::TurnResult::ok) converts such a result to an error, for use with `?`. A turn without a result is an
//! [`Error`](crate::Error): the agent cannot be started, ended, refused a call, or did not answer in time. `Display` prints what failed; the sources are the causes, which
//! [`with_causes`](crate::Error::with_causes) prints, too.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let text = std::fs::read_to_string("../../fixtures/wire/droid-0.225.2/load_session.jsonl").unwrap();
//! # let is_wanted = |line: &&str| ["4"].iter().any(|id| line.contains(&format!(r#""id":"{id}""#)));
//! # let wanted: Vec<_> = text.lines().filter(is_wanted).collect();
//! # let droid = musher::Replay::parse(&wanted.join("\n"))?.agent();
//! match musher::Session::resume("00000000-0000-4000-8000-000000000000").agent(droid).open().await {
//!     Ok(_) => println!("it is there"),
//!     Err(error) if error.is_session_not_found() => println!("{error}"),
//!     Err(error) if error.is_timeout() => println!("no answer in time"),
//!     Err(error) if error.is_process_exit() => println!("the agent ended: {:?}", error.kind()),
//!     Err(error) if error.is_connection() => println!("no agent: {}", error.with_causes()),
//!     Err(error) => return Err(error),
//! }
//! # Ok(()) }
//! ```
//!
//! | the TypeScript SDK throws | here |
//! |---|---|
//! | `ConnectionError` | [`is_connection`](crate::Error::is_connection) |
//! | `ProtocolError` | [`is_protocol`](crate::Error::is_protocol), with method and code in [`kind`](crate::Error::kind) |
//! | `SessionError` | [`ErrorKind::Session`](crate::ErrorKind::Session) |
//! | `SessionNotFoundError` | [`is_session_not_found`](crate::Error::is_session_not_found) |
//! | `TimeoutError` | [`is_timeout`](crate::Error::is_timeout) |
//! | `ProcessExitError` | [`is_process_exit`](crate::Error::is_process_exit), with status and the last of stderr |
//! | a plain error when aborted | nothing: it is [`TurnEnd::Interrupted`](crate::TurnEnd::Interrupted) |
