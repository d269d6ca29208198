//! Tools: list, enable and disable them.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let text = std::fs::read_to_string("../../fixtures/wire/droid-0.225.2/list_everything.jsonl").unwrap();
//! # let is_wanted = |line: &&str| ["1", "2"].iter().any(|id| line.contains(&format!(r#""id":"{id}""#)));
//! # let wanted: Vec<_> = text.lines().filter(is_wanted).collect();
//! # let droid = musher::Replay::parse(&wanted.join("\n"))?.agent();
//! use musher::Session;
//! use musher::wire::ListToolsParams;
//!
//! let session = Session::builder().agent(droid).disabled_tools(["execute-cli"]).open().await?;
//! let tools = session.client().list_tools(ListToolsParams::default()).await?.tools;
//! for tool in &tools {
//!     println!("{} ({}): allowed {:?}", tool.id, tool.llm_id, tool.currently_allowed);
//! }
//! # assert!(!tools.is_empty());
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! Tools are named by their ids, such as `execute-cli`, not by the names the model uses, such as `Execute`.
//! [`disabled_tools`](crate::SessionBuilder::disabled_tools) removes tools reliably,
//! [`enabled_tools`](crate::SessionBuilder::enabled_tools) adds to the usual ones, [`restrict_tools`](crate::SessionBuilder::restrict_tools)
//! disables all others. All can be changed later with [`update_settings`](crate::Session::update_settings).
