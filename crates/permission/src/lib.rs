//! Decides whether a tool call of a coding agent may run without asking: a command line, a change of files, a read, a request to a server.
//!
//! The decision is pure: it follows from a [`Policy`], from what the call does (its [`Action`]) and from where paths lead in the
//! [`Workspace`]. Claims of the model never lower a risk. A command line runs unasked only if its text proves what it does; it is read
//! twice, by a small reader of our own and by the grammar of bash, and both must agree.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! use musher_permission::{Action, Autonomy, Call, Policy, Verdict, Workspace, decide};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let workspace = Workspace::open(folder)?;
//! let policy = Policy { autonomy: Autonomy::Low, ..Policy::default() };
//! let verdict = |line| decide(&policy, &Call::new("Execute", Action::command(line)), &workspace);
//!
//! assert!(matches!(verdict("git log --oneline | head -5"), Verdict::Run(_)));
//! assert!(matches!(verdict("git push --force"), Verdict::Ask(_)));
//! # Ok(()) }
//! ```
//!
//! The vocabulary: a call gets a [`Verdict`] (run, ask, refuse). A verdict to ask carries a [`PermissionRequest`] for the user, whose
//! answer is a [`Choice`]. [`apply`] turns the choice into an [`Outcome`] and remembers what it covers from then on.
//!
//! What is not here: asking, running, hooks. [`Workspace`] and [`Resolved`] also open files, so that the file that was judged is the one
//! that is used.

mod action;
mod answer;
mod command;
mod decide;
mod files;
mod paths;
mod policy;
mod request;
mod risk;
mod rules;
mod show;

pub use action::{Action, Call};
pub use answer::{Outcome, apply};
pub use decide::decide;
pub use paths::{Access, FileKind, Resolved, Sensitive, Workspace};
pub use policy::{Autonomy, Grants, Mode, Policy};
pub use request::{Choice, Kind, Operation, PermissionRequest, Refusal, Verdict};
pub use risk::Risk;
pub use rules::Rule;
pub use show::{is_deceptive, visible};

#[cfg(test)]
mod tests;
