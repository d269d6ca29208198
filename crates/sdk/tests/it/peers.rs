//! Features of the guide, each on the real droid with a scripted model.

mod stage;
mod turns;
