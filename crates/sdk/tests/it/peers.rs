//! Features of the guide, each on the real droid with a scripted model.

mod mcp;
mod runs;
mod sessions;
mod sessions_on_disk;
mod stage;
mod turns;
