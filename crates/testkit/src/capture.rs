//! Records the messages between a real program and a scenario, in the format of `fixtures/wire`.
//!
//! A [`Scenario`] describes the client, [`play`] runs it with a running [`Program`](crate::Program), and [`record`] does so in its own
//! sandbox. Every [`Record`] goes through [`sanitise`] before it is written: committed captures contain nothing of the machine they were
//! made on, and none of the program's own long texts.

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
