//! `musher doctor` and `musher trust`: whole commands, in a home and a repository of their own.

mod report;
pub(crate) mod stage;
mod trust;

mod peers;
