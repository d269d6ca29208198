//! Converts between engine types and wire types, by direction. No other module knows both.

pub(crate) mod from_wire;
pub(crate) mod to_wire;
