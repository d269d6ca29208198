//! The guide: one chapter for each thing one may want to do, with examples that run as tests.
//!
//! **Basics.**
//!
//! - [Getting started](getting_started): what is needed, and the first answer.
//! - [One-shot runs](one_shot): one prompt, one result, nothing to close.
//! - [Structured output](structured_output): answers that fit a schema.
//!
//! **Sessions.**
//!
//! - [Sessions](sessions): a conversation of many turns.
//! - [Resume](resume): going on with a session that is on disk.
//! - [Fork](fork): another session with the same past.
//! - [Compact](compact): a summary in place of a long past.
//! - [List](list): which sessions are on disk.
//! - [Rename](rename): a title for people.
//!
//! **Streams.**
//!
//! - [Streaming](streaming): a turn as it happens.
//! - [Partial streaming](partial): words as they are written.
//! - [Interrupt](interrupt): stopping a turn.
//!
//! **Control.**
//!
//! - [Autonomy](autonomy): what the agent does without asking.
//! - [Tools](tools): which the agent has, and taking some away.
//! - [Permission](permission): a word in what the agent may do.
//! - [Questions](ask_user): answering for the person.
//! - [Spec mode](spec_mode): a plan first.
//! - [Model and effort](model): who thinks, and how hard.
//! - [Pictures and documents with a prompt](multimodal)
//!
//! **MCP.**
//!
//! - [Tools of your own](mcp_tools): functions the agent can call.
//! - [MCP servers](mcp_servers): adding, switching, listing, removing.
//!
//! **Seeing what happens.**
//!
//! - [Hooks](hooks): watching the commands that run around tools.
//! - [Token usage](usage): live and in the end.
//! - [Context](context): how full it is.
//! - [Skills](skills): what the agent can load.
//! - [Raw notifications](notifications): all that the agent says.
//!
//! **The rest.**
//!
//! - [Errors](errors): two kinds of things that go wrong.
//! - [The low level](low_level): every method of the protocol.
//! - [Testing](testing): agents that play a recording.
//! - [Configuration](configuration): every option by its name in the TypeScript SDK.

pub mod ask_user;
pub mod autonomy;
pub mod compact;
pub mod configuration;
pub mod context;
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
