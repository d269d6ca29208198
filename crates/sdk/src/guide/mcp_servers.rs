//! MCP servers: add, list, enable, remove.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let text = std::fs::read_to_string("../../fixtures/wire/droid-0.225.2/mcp_manage.jsonl").unwrap();
//! # let is_wanted = |line: &&str| ["1", "2", "6", "10", "14"].iter().any(|id| line.contains(&format!(r#""id":"{id}""#)));
//! # let wanted: Vec<_> = text.lines().filter(is_wanted).collect();
//! # let droid = musher::Replay::parse(&wanted.join("\n"))?.agent();
//! use musher::Session;
//! use musher::wire::{
//!     AddMcpServerParams, McpServerType, RemoveMcpServerParams, SettingsLevel, ToggleMcpServerParams,
//! };
//!
//! let session = Session::builder().agent(droid).open().await?;
//! let mut server = AddMcpServerParams::new("my-server", McpServerType::Http);
//! server.url = Some("https://mcp.example.com/mcp".to_owned());
//! session.client().add_mcp_server(server).await?;
//!
//! for server in session.client().list_mcp_servers().await?.servers {
//!     println!("{}: {}", server.name, server.status);
//! }
//! session.client().toggle_mcp_server(ToggleMcpServerParams::new("my-server", false, SettingsLevel::User)).await?;
//! session.client().remove_mcp_server(RemoveMcpServerParams::new("my-server", SettingsLevel::User)).await?;
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! These calls change the user's settings: an added server is there in every later session. To add a server for one session only,
//! use [`mcp_server`](crate::SessionBuilder::mcp_server) of the builder.
//! [`list_mcp_tools`](crate::Client::list_mcp_tools) lists their tools; [`authenticate_mcp_server`](crate::Client::authenticate_mcp_server) starts a login.
