//! The features of the guide, each tried on an agent with a scripted model.
//!
//! Which agent, is the business of whoever includes this module. It defines `stage!(script)` before, which gives a [`stage::Stage`]:
//! here with the real droid, in `musher-server` with the engine in the same process, in `musher-cli` with `musher exec`.

mod compact;
mod control;
mod errors;
pub(crate) mod handlers;
mod hooks;
mod limits;
mod mcp;
mod media;
mod observe;
mod options;
mod recording;
mod runs;
pub(crate) mod sessions;
pub(crate) mod sessions_on_disk;
mod spec;
pub(crate) mod stage;
pub(crate) mod streams;
pub(crate) mod turns;
