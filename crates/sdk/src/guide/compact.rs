//! Compact: replace a long conversation by a summary.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let text = std::fs::read_to_string("../../fixtures/wire/droid-0.225.2/compact.jsonl").unwrap();
//! # let (first, second) = text.split_at(text[..text.find("droid.load_session").unwrap()].rfind('\n').unwrap() + 1);
//! # let droid = musher::Replay::parse(first)?.then(second)?.agent();
//! # let session = musher::Session::builder().agent(droid).open().await?;
//! # for _ in 0..3 { session.send("Go on.").await?; }
//! // after many turns
//! let compaction = session.compact().instructions("Keep the names of all functions.").await?;
//! println!("{} messages replaced by a summary in {}", compaction.removed_messages, compaction.session.id());
//! # assert!(compaction.removed_messages > 0);
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! The summary is in a new session with a new id, which is already open. The old session does not change.
