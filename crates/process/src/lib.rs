//! Starts programs that cannot outlive this process: sessions, marks, process trees, and a guard that cleans up after a crash.
//!
//! A [`Command`] describes a program; [`Command::spawn`] starts it and returns a [`Child`], which ends the program together with all
//! processes that the program started, including detached ones.
//!
//! ```
//! use musher_process::{Command, Streams};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
//! let child = Command::new("sh").args(["-c", "setsid sleep 1000 & wait"]).spawn(Streams::null()).await?;
//! let mark = child.mark().clone();
//! child.kill();
//! assert!(!child.reap()?.success());
//! assert!(!mark.is_alive(), "the shell and the sleep have ended");
//! # Ok(()) }
//! ```
//!
//! Every program has:
//!
//! - a session of its own, so that signals reach the whole group and the program has no access to a terminal;
//! - a [`Mark`] in its environment and in its resource limits, which all its descendants inherit (Linux);
//! - a parent-death signal ([`ParentDeath`]), sent by the kernel if this process is killed (Linux);
//! - the guard: a small shell, one per process, that briefly outlives this process and kills its remaining programs. On systems
//!   other than Linux, it only knows their process groups.
//!
//! A program can also have a [`Sandbox`], which limits where it may write and what it may connect to.
//!
//! All code that runs in the child between fork and exec is in `pre_exec.rs` and `sandbox/`.
//!
//! Out of scope, and decided by callers: input and output of programs, timeouts, and which environment variables they see.

mod child;
mod command;
mod detached;
mod guard;
mod mark;
mod pre_exec;
#[cfg(unix)]
mod replace;
mod sandbox;
#[cfg_attr(not(target_os = "linux"), path = "search_elsewhere.rs")]
mod search;
mod spawn;
mod tree;

pub use child::Child;
pub use command::{Command, ParentDeath, Streams};
pub use guard::start_guard;
pub use mark::{MARKS_VARIABLE, Mark};
#[cfg(unix)]
pub use replace::{inherited, replace};
pub use sandbox::{Layers, Network, Sandbox};
pub use spawn::Spawner;
pub use tree::kill_marked;
