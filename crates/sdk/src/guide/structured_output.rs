//! Structured output: answers that fit a schema.
//!
//! The answer is a Rust value. Its schema is derived from the type, and the SDK checks the answer again:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/structured_output_ok.jsonl")?.agent();
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Pick {
//!     number: u32,
//! }
//!
//! let session = musher::Session::builder().agent(droid).open().await?;
//! let pick: Pick = session.extract("Pick a number between 1 and 42.").await?;
//! println!("{}", pick.number);
//! # assert_eq!(pick.number, 7);
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! If an answer does not match the schema, the SDK asks again, with the error ([`retries`](crate::Extract::retries)); after the last retry it is an error
//! of kind [`Output`](crate::ErrorKind::Output) that keeps the raw text. With a schema of your own, the value is in the result:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/structured_output_ok.jsonl")?.agent();
//! let schema = serde_json::json!({
//!     "type": "object", "properties": {"number": {"type": "number"}}, "required": ["number"],
//! });
//! let result = musher::run("Pick a number.").output_schema(schema).session(|session| session.agent(droid)).await?;
//! match &result.structured_output {
//!     Some(output) => println!("{output}"),
//!     None => println!("failed: {}", result.subtype()), // `error_structured_output`
//! }
//! # assert!(result.structured_output.is_some());
//! # Ok(()) }
//! ```
