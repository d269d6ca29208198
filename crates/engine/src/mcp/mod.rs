//! MCP servers: starts them, monitors them, and lists and calls their tools.
//!
//! - [`Mcp::start`] starts to connect to all servers and returns at once; [`Mcp::settled`] waits until each is connected or has failed,
//!   which takes at most 30 seconds. Dropping the last handle stops all servers; [`Mcp::shutdown`] also waits for their end.
//! - [`Mcp::servers`] is the list for clients (without servers that a client gave), [`Mcp::tools`] has the tools of all servers, with the
//!   names for the model. [`Mcp::changes`] signals when either may have changed.
//! - [`Mcp::call`] runs a tool. Failures become error outputs. The next call restarts a failed server, a few times per minute.
//! - [`Mcp::add`], [`Mcp::remove`], [`Mcp::toggle`] and [`Mcp::toggle_tool`] change `mcp.json` of our home, and the running servers.
//! - OAuth is not supported: [`Mcp::authenticate`] returns an error.
//!
//! Does not check permissions. Names and hints of tools come from the servers and are not trusted.

mod child;
mod connection;
mod http;
mod manager;
mod names;
mod old_sse;
mod output;
mod persist;
mod pool;
mod selector;
mod tool;
mod view;

pub use manager::{Mcp, Options};
pub(crate) use selector::is_selected;
pub use tool::McpTool;
pub use view::{McpToolView, ServerView};
