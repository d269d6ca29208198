//! Decides whether a tool call of a coding agent may run without asking the user: command lines, file edits, reads, network requests, MCP tools.
//!
//! The verdict is pure: it depends on a [`Policy`], on what the call does (its [`Action`]) and on where paths lead in the [`Workspace`].
//! Claims of the model never lower a risk. A command line runs without asking only if its text proves what it does; it is parsed twice, by
//! a small parser and by the grammar of bash, and both must agree.
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
//! The vocabulary: a call gets a [`Verdict`] (run, ask, refuse). A verdict to ask carries a [`PermissionRequest`] for the user, who answers
//! with a [`Decision`]: one of the offered [`Choice`]s. [`apply`] turns it into a [`Grant`] and records which later calls it covers.
//!
//! Asking the user, running calls and hooks are the caller's job. [`Workspace`] and [`Resolved`] also open files, so that the file a call
//! uses is the file the verdict was about.

mod action;
mod command;
mod decide;
mod files;
mod glob;
mod grant;
mod paths;
mod policy;
mod request;
mod risk;
mod rules;
mod secrets;
mod show;

pub use action::{Action, Call};
pub use decide::decide;
pub use grant::{Grant, apply};
pub use paths::{Access, FileKind, RUN_FROM_WORKSPACE, Resolved, SHELL_STARTUP, Sensitive, Workspace};
pub use policy::{Autonomy, Grants, Mode, Policy};
pub use request::{Choice, Decision, Kind, Operation, PermissionRequest, Refusal, Verdict};
pub use risk::Risk;
pub use rules::Rule;
pub use secrets::SecretFiles;
pub use show::{is_deceptive, visible};

#[cfg(test)]
mod tests;
