//! Recordings: the SDK over every recorded conversation with droid, and over what it records itself.

mod captures;
mod recording;
pub(crate) mod stage;
