//! Compact: a summary in place of a long past.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let text = std::fs::read_to_string("../../fixtures/wire/droid-0.225.2/compact.jsonl").unwrap();
//! # let (first, second) = text.split_at(text[..text.find("droid.load_session").unwrap()].rfind('\n').unwrap() + 1);
//! # let droid = musher::Replay::parse(first)?.then(second)?.agent();
//! # let session = musher::Session::builder().agent(droid).open().await?;
//! # for _ in 0..3 { session.send("Go on.").await?; }
//! // after many turns
//! let compacted = session.compact(Some("Keep the names of all functions.".to_owned())).await?;
//! println!("{} messages are summed up in {}", compacted.removed_messages, compacted.session.id());
//! # assert!(compacted.removed_messages > 0);
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! The summary is a new session with a new id, opened and ready. The old one stays as it was.
