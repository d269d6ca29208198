//! An agent of the Agent Client Protocol, for editors, which drives any agent that speaks the Droid protocol.
//!
//! An editor starts `musher acp` and talks to it over stdin and stdout. Each session of the editor has an agent of its own, driven
//! by [`musher`]. The adapter guarantees: every prompt is answered, whatever happens to the agent; the updates of a turn
//! come before its response and none after it; only what works is advertised, and only what the editor announced is
//! requested of it.
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
mod editor;
mod link;
mod listing;
mod modes;
mod registry;
mod session;

pub use agent::serve;
pub use config::{Config, Login, ModelNames};
