//! An agent of the Agent Client Protocol, for editors, which drives any agent that speaks the Droid protocol.
//!
//! An editor starts `musher acp` and talks to it over stdin and stdout; each of its sessions is a process of the agent
//! behind it, driven by [`musher`]. What is promised: every prompt is answered, whatever happens to the agent; a turn's
//! updates come before its answer and none after it; only what works is advertised, and only what the editor can do
//! is asked of it.
//!
//! ```no_run
//! # async fn example() {
//! use musher_acp::Config;
//!
//! # fn editor() -> musher_rpc::LineConnection { unimplemented!() }
//! let config = Config::new(musher::Agent::program("droid"));
//! // the lines on stdin and stdout, for a program: `musher_rpc::stdio_lines`
//! musher_acp::serve(config, editor(), std::future::pending()).await.ok();
//! # }
//! ```

mod agent;
mod commands;
mod config;
mod convert;
mod deleting;
mod desk;
mod editor;
mod link;
mod listing;
mod modes;
mod session;

pub use agent::serve;
pub use config::{Agents, Config, Login};
pub use editor::Editor;
