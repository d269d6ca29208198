//! Whether a tool call runs, is asked for, or is refused: a pure decision.
//!
//! Nothing the model wrote lowers what is at stake: its own claim can only raise it. A command runs without asking only if what it
//! does could be proven from its text. The only thing looked at outside the arguments is where paths lead.

mod answer;
mod command;
mod decide;
mod files;
mod policy;
mod request;
mod rules;
mod show;

pub use answer::{Outcome, apply};
pub use decide::{Call, Target, decide};
pub use policy::{Autonomy, Grants, Mode, Policy};
pub use request::{Choice, Kind, Operation, PermissionRequest, Refusal, Verdict};
pub use rules::Rule;
pub use show::visible;

#[cfg(test)]
mod tests;
