//! Recordings: the SDK over every recorded conversation with droid, and over its own recordings.

mod captures;
mod recording;
pub(crate) mod stage;
