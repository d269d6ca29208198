//! Fork: another session with the same past.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let text = std::fs::read_to_string("../../fixtures/wire/droid-0.225.2/fork.jsonl").unwrap();
//! # let (first, second) = text.split_at(text[..text.find("droid.load_session").unwrap()].rfind('\n').unwrap() + 1);
//! # let droid = musher::Replay::parse(first)?.then(second)?.agent();
//! let session = musher::Session::builder().agent(droid).open().await?;
//! session.send("Remember: the password is banana.").await?;
//!
//! let fork = session.fork().await?;
//! let answer = fork.send("What is the password?").await?;
//! # assert_eq!(answer.text, "Fork reply.");
//! fork.close().await?;
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! The fork is open and has an agent of its own; the original does not change and can continue. A title and tags are
//! options of [`Fork`](crate::Fork).
