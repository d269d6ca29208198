//! `musher sessions`: whole commands, on sessions of ours and of droid.

mod changes;
mod large;
mod peers;
mod reading;
mod stage;
mod terminal;
