//! The guide: one chapter for each task, with examples that run as tests.
//!
//! **Basics.**
//!
//! - [Getting started](getting_started): install, and get the first answer.
//! - [One-shot runs](one_shot): one prompt, one result, nothing to close.
//! - [Structured output](structured_output): answers that fit a schema.
//!
//! **Sessions.**
//!
//! - [Sessions](sessions): a conversation of many turns.
//! - [Resume](resume): continue a session that is on disk.
//! - [Fork](fork): another session with the same past.
//! - [Compact](compact): replace a long conversation by a summary.
//! - [List](list): which sessions are on disk.
//! - [Rename](rename): set the title.
//! - [Daemon](daemon): sessions that continue while their clients come and go.
//!
//! **Streams.**
//!
//! - [Streaming](streaming): the events of a turn.
//! - [Partial streaming](partial): text as it is written.
//! - [Interrupt](interrupt): stop a turn.
//!
//! **Control.**
//!
//! - [Autonomy](autonomy): what runs without a permission request.
//! - [Tools](tools): list, enable and disable them.
//! - [Permission](permission): allow or deny tool calls.
//! - [Questions](ask_user): answer the agent's questions.
//! - [Spec mode](spec_mode): a plan first.
//! - [Model and effort](model): choose the model and its reasoning effort.
//! - [Pictures and documents](multimodal): attach them to a prompt.
//!
//! **MCP.**
//!
//! - [Tools of your own](mcp_tools): functions that the agent can call.
//! - [MCP servers](mcp_servers): add, list, enable, remove.
//!
//! **Observability.**
//!
//! - [Hooks](hooks): watch the commands that run around tools.
//! - [Token usage](usage): while a turn runs, and at its end.
//! - [Context](context): how full the context window is.
//! - [Skills](skills): list and disable them.
//! - [Raw notifications](notifications): every message of the agent.
//!
//! **The rest.**
//!
//! - [Errors](errors): failed calls and failed turns.
//! - [The low level](low_level): every method of the protocol.
//! - [Testing](testing): agents that play a recording.
//! - [Configuration](configuration): every option by its name in the TypeScript SDK.

pub mod ask_user;
pub mod autonomy;
pub mod compact;
pub mod configuration;
pub mod context;
pub mod daemon;
pub mod errors;
pub mod fork;
pub mod getting_started;
pub mod hooks;
pub mod interrupt;
pub mod list;
pub mod low_level;
pub mod mcp_servers;
pub mod mcp_tools;
pub mod model;
pub mod multimodal;
pub mod notifications;
pub mod one_shot;
pub mod partial;
pub mod permission;
pub mod rename;
pub mod resume;
pub mod sessions;
pub mod skills;
pub mod spec_mode;
pub mod streaming;
pub mod structured_output;
pub mod testing;
pub mod tools;
pub mod usage;
