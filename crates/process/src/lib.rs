//! Starts programs so that they cannot outlive us: sessions, marks, process trees, and a guard that cleans up after a crash.
//!
//! A [`Command`] describes a program; [`Command::spawn`] starts it and returns a [`Child`], which ends the program together with everything
//! the program started, wherever that went.
//!
//! ```
//! use musher_process::{Command, Streams};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
//! let child = Command::new("sh").args(["-c", "setsid sleep 1000 & wait"]).spawn(Streams::null()).await?;
//! let mark = child.mark().clone();
//! child.kill();
//! assert!(!child.reap()?.success());
//! assert!(!mark.is_alive(), "the shell and the sleep are gone");
//! # Ok(()) }
//! ```
//!
//! Every program gets, whoever starts it:
//!
//! - a session of its own, so that signals reach the whole group and no terminal can be read or drawn on;
//! - a [`Mark`] in its environment and in its resource limits, which everything below it inherits (Linux);
//! - a parent-death signal ([`ParentDeath`]), sent by the kernel should this process be killed (Linux);
//! - the guard: a small shell, one for this process, that outlives us for a moment and kills what our programs have left. On systems other
//!   than Linux it knows their process groups only.
//!
//! The code that runs in the child between fork and exec is in one place, `pre_exec.rs`. A sandbox will be applied there.
//!
//! What is not here: what a program reads and writes, how long it may take to end, which variables it may see. Callers decide that.

mod child;
mod command;
mod guard;
mod mark;
mod pre_exec;
#[cfg_attr(not(target_os = "linux"), path = "search_elsewhere.rs")]
mod search;
mod spawn;
mod tree;

pub use child::Child;
pub use command::{Command, ParentDeath, Streams};
pub use guard::start_guard;
pub use mark::{MARKS_VARIABLE, Mark};
pub use spawn::Spawner;
pub use tree::kill_marked;
