//! Resume: continue a session that is on disk.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/load_session.jsonl")?.agent();
//! use musher::Session;
//!
//! let session = Session::resume("f766d0ae-07fd-4d17-8035-736c93f10b24").agent(droid).open().await?;
//! println!("{} messages so far", session.state().history.len());
//! let answer = session.send("What did I say?").await?;
//! # assert_eq!(answer.text, "Mango.");
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! A session works in the directory that it was created in. To work in another one, open a new session.
//! [`list_sessions`](super::list) lists the sessions on disk.
