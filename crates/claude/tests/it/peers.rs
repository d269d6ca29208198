//! Two versions of the real Claude Code, with a scripted model.

mod answers;
mod controls;
mod ends;
mod stage;
mod turns;
