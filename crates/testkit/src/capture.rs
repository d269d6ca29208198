//! Records what a real program and a scenario say to each other, in the form of `fixtures/wire`.
//!
//! A [`Scenario`] says what the client does, [`play`] does it with a running [`Program`](crate::Program), and [`record`] does that
//! in a sandbox of its own. Every [`Record`] goes through [`sanitise`] before it is written: what is committed says nothing of the machine it was made on, and repeats none of the
//! program's own long texts.

mod play;
mod record;
mod sanitise;
mod scenario;
mod session;

pub use play::{filled, play};
pub use record::{Direction, Record, write};
pub use sanitise::{replacements, sanitise};
pub use scenario::{Answer, Reply, Scenario, Step, matches};
pub use session::record;
