//! Recordings of a connection, and agents that replay them: for tests of programs that use this crate.
//!
//! A recording is a file with one JSON object per line, in the order the client saw it:
//! `{"dir":"c2s"|"s2c","t":<seconds>,"msg":{...}}`. A line that is not a message has its text as `raw`, and the end of an agent that
//! ended first is a line with `end`. A recording holds the whole conversation, so it is as confidential as the session.

mod line;
mod player;
mod replay;
mod script;
mod tap;

pub use replay::Replay;
pub(crate) use tap::Tap;
