//! MCP servers: started together, watched, and asked for their tools.
//!
//! - [`Mcp::start`] begins to connect to all servers at once and returns; [`Mcp::settled`] waits until each is connected or has failed,
//!   which takes 30 seconds at most. Dropping the last handle ends all servers; [`Mcp::shutdown`] waits for it.
//! - [`Mcp::servers`] is the list for clients (without those a client gave itself), [`Mcp::tools`] the tools of all servers, with the name
//!   the model knows each by. [`Mcp::changes`] tells when either may have changed.
//! - [`Mcp::call`] runs a tool. Whatever goes wrong is an output. A server that has died is started again by the next call, a few times.
//! - [`Mcp::add`], [`Mcp::remove`], [`Mcp::toggle`] and [`Mcp::toggle_tool`] change `mcp.json` of our home, and what runs.
//! - Logging in (OAuth) is not supported: [`Mcp::authenticate`] and its like say so.
//!
//! Consent is not asked here. The names and hints of tools are a server's word: nothing here trusts them.

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
