//! Between the engine's words and the wire's, by direction. No other place knows both.

pub(crate) mod from_wire;
pub(crate) mod to_wire;
