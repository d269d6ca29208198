//! Every recorded conversation with droid, played to the SDK: what it makes of it, quirks included.

mod calls;
mod control;
mod oddities;
mod questions;
mod turns;
