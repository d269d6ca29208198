//! MCP servers: starts them, monitors them, and lists and calls their tools.
//!
//! - [`Mcp::start`] starts to connect to all servers and returns at once; [`Mcp::settled`] waits until each is connected or has failed,
//!   which takes at most 30 seconds. Dropping the last handle stops all servers; [`Mcp::shutdown`] also waits for their end.
//! - [`Mcp::servers`] is the list for clients (without servers that a client gave), [`Mcp::tools`] has the tools of all servers, with the
//!   names for the model. [`Mcp::changes`] signals when either may have changed.
//! - [`Mcp::call`] runs a tool. Failures become error outputs. The next call restarts a failed server, a few times per minute.
//! - [`Mcp::add`], [`Mcp::remove`], [`Mcp::toggle`] and [`Mcp::toggle_tool`] change `mcp.json` of our home, and the running servers.
//! - [`Mcp::authenticate`] logs the user in with OAuth, [`Mcp::clear_authentication`] deletes the login. A server that refuses requests
//!   for lack of a login has failed, and says so; it is connected again once there is a login, also if another process has made it.
//!
//! Does not check permissions. Names and hints of tools come from the servers and are not trusted.

mod child;
mod connection;
mod error;
mod fault;
mod http;
mod logins;
mod manager;
mod names;
mod oauth;
mod old_sse;
mod output;
mod persist;
mod pool;
mod secrets;
mod selector;
mod tool;
mod view;

pub use error::Error;
pub use logins::LoginFailure;
pub use manager::{Mcp, Options};
pub use oauth::{LoginState, PendingLogin, login_of};
pub use selector::{is_named, is_selected, may_mean};
pub use tool::McpTool;
pub use view::{McpToolView, ServerView};
