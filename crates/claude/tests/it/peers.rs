//! The real Claude Code, two versions of it, with a scripted model.

mod answers;
mod controls;
mod ends;
mod stage;
mod turns;
