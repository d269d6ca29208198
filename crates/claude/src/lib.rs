//! An async driver of the Claude Code CLI: stream-json messages and the control protocol.
//!
//! ```no_run
//! use musher_claude::{Handlers, Options, Permission, Session, View};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), musher_claude::Error> {
//! let options = Options::new().model("sonnet");
//! let handlers = Handlers::new().on_permission(|request| async move {
//!     println!("{} wants to run: allowed", request.tool_name);
//!     Permission::allow()
//! });
//! let (session, mut messages) = Session::start("claude".as_ref(), ".".as_ref(), options, handlers).await?;
//! session.send("Write a haiku to haiku.txt.").await?;
//! let result = messages.until_result(|message| {
//!     if let View::Assistant(said) = message.view() {
//!         print!("{}", said.message.content.text());
//!     }
//! }).await?;
//! assert!(!result.is_error);
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! Three layers, each usable alone:
//!
//! - [`Protocol`]: the conversation as a state machine, without IO. Every line becomes an [`Event`].
//! - [`Process`]: the protocol on a running CLI, every event in order. For programs that pass messages on.
//! - [`Session`]: closures handle requests of the CLI, calls are functions, messages are a stream.
//!
//! A [`Message`] keeps the text of the CLI unchanged; [`Message::view`] returns it as types. The CLI ends with the session, with everything
//! it started. Not here: finding or installing the CLI, accounts, retries.

mod error;
mod handlers;
mod mcp;
mod options;
mod process;
mod protocol;
mod session;
mod user;
mod wire;

pub use error::Error;
pub use handlers::Handlers;
pub use mcp::ToolServer;
#[doc(no_inline)]
pub use musher_wire::{Extra, Json};
pub use options::{Hook, Options, SessionSource, SystemPrompt};
pub use process::Process;
pub use protocol::{Event, Protocol};
pub use session::{Messages, Session};
pub use user::UserMessage;
pub use wire::content::{Block, Content, ToolResult, ToolUse, Usage};
pub use wire::control::{
    Call, McpRequest, Permission, PermissionMode, PermissionRequest, Refusal, RequestId,
};
pub use wire::hook::{HookOutput, HookRequest};
pub use wire::message::{
    AssistantMessage, CommandLifecycle, Message, ModelMessage, PermissionDenial, StreamEvent, TurnResult,
    UserEcho, View,
};
pub use wire::system::{ApiRetry, Init, McpServer, ModelFallback, Status, System, Task};
