//! The Tool trait and the built-in tools of the engine.
