//! Features of the guide, each on the real droid with a scripted model.

mod control;
mod errors;
mod examples;
mod handlers;
mod limits;
mod mcp;
mod media;
mod observe;
mod options;
mod recording;
mod runs;
mod sessions;
mod sessions_on_disk;
mod spec;
mod stage;
mod streams;
mod turns;
