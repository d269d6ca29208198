//! The low level: every method of the protocol.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let text = std::fs::read_to_string("../../fixtures/wire/droid-0.225.2/list_everything.jsonl").unwrap();
//! # let is_wanted = |line: &&str| ["1", "5", "8"].iter().any(|id| line.contains(&format!(r#""id":"{id}""#)));
//! # let wanted: Vec<_> = text.lines().filter(is_wanted).collect();
//! # let droid = musher::Replay::parse(&wanted.join("\n"))?.agent();
//! use musher::wire::{ListModels, ListModelsParams};
//!
//! let session = musher::Session::builder().agent(droid).open().await?;
//! // by name, by type, or as it goes over the wire
//! let models = session.client().call::<ListModels>(&ListModelsParams::default()).await?.models;
//! let commands = session.client().call_raw("droid.list_commands", serde_json::json!({})).await?;
//! println!("{} models, {commands}", models.len());
//! # assert!(!models.is_empty());
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! [`Session::client`](crate::Session::client) is a [`Client`](crate::Client), which has one method for each method of the protocol. All types of the
//! protocol are in [`wire`](crate::wire); they keep unknown fields. Connections of other kinds (in process, over a network) come from a
//! [`Connector`](crate::Connector), see [`transport`](crate::transport); a [`Launch`](crate::Launch) defines how a program is started, and a [`Spawner`](crate::Spawner) where.
