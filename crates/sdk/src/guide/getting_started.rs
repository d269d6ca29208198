//! Getting started: install, and get the first answer.
//!
//! You need `cargo add musher tokio` and an agent: the program `droid` in your `PATH`, logged in once, or with an API key.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/text_turn.jsonl")?.agent();
//! let answer = musher::run("Say hello.").session(|session| session.agent(droid)).await?;
//! println!("{}", answer.text);
//! # assert_eq!(answer.text, "Hello from the scripted model.");
//! # Ok(()) }
//! ```
//!
//! In this guide `droid` is the agent of the examples. Leave `.agent(...)` out to use the program in your `PATH`, name another one with
//! [`executable`](crate::SessionBuilder::executable), and give it a key with [`api_key`](crate::SessionBuilder::api_key) if it is not
//! logged in. The examples run as tests: there `droid` replays a recording of the real one (see [testing](super::testing)).
