//! Context: how full the context window is.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let text = std::fs::read_to_string("../../fixtures/wire/droid-0.225.2/list_everything.jsonl").unwrap();
//! # let is_wanted = |line: &&str| ["1", "12"].iter().any(|id| line.contains(&format!(r#""id":"{id}""#)));
//! # let wanted: Vec<_> = text.lines().filter(is_wanted).collect();
//! # let droid = musher::Replay::parse(&wanted.join("\n"))?.agent();
//! let session = musher::Session::builder().agent(droid).open().await?;
//! let stats = session.client().get_context_stats().await?;
//! println!("{} of {} tokens, {} left", stats.used, stats.limit, stats.remaining);
//! # assert!(stats.limit.get() > 0);
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! [`get_context_breakdown`](crate::Client::get_context_breakdown) returns what fills it. When it is nearly full, [compact](super::compact).
