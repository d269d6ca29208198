//! Sessions: a conversation of many turns.
//!
//! Open a session once and send any number of prompts. The agent remembers the conversation.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/compact.jsonl")?.agent();
//! use musher::Session;
//!
//! let session = Session::builder().agent(droid).cwd("/workspace").open().await?;
//! session.send("Remember the word mango.").await?;
//! let answer = session.send("Which word did I say?").await?;
//! println!("{}", answer.text);
//! # assert_eq!(answer.text, "Reply 1.");
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! One turn runs at a time. A prompt that comes meanwhile is queued, or refused if the session was opened with
//! [`reject_while_busy`](crate::SessionBuilder::reject_while_busy). [`Session::state`](crate::Session::state) has the current
//! settings, title, directory, tokens. A session that is dropped ends its agent, too; [`close`](crate::Session::close) waits for that.
