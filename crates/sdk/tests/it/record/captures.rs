//! Every recorded conversation with droid, replayed to the SDK, quirks included.

mod calls;
mod control;
mod oddities;
mod questions;
mod turns;
