//! Kills a program with all processes it started: its group and session, its descendants, and the processes with its mark.

use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::Mark;
use crate::search::{self, Handle};

/// Maximum number of searches for survivors: a killed process takes a moment to end, and may have forked before.
const MAX_ROUNDS: usize = 100;
const PAUSE: Duration = Duration::from_millis(5);
/// Number of searches in a row that must find nothing: a process may fork and exit while `/proc` is read.
const CLEAN_ROUNDS: usize = 2;

/// Kills all processes with one of the marks. Blocks briefly, until they have ended.
///
/// Does nothing on systems other than Linux, where marks cannot be read.
///
/// ```
/// use musher_process::{Command, Streams, kill_marked};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// let command = Command::new("sh").args(["-c", "sleep 1000 & true"]).keep_descendants();
/// let child = command.spawn(Streams::null()).await?;
/// assert!(child.reap()?.success());
/// assert!(child.mark().is_alive(), "the sleep is still running");
/// kill_marked([child.mark()]);
/// assert!(!child.mark().is_alive());
/// # Ok(()) }
/// ```
pub fn kill_marked<'a>(marks: impl IntoIterator<Item = &'a Mark>) {
    let marks: Vec<&Mark> = marks.into_iter().collect();
    if !marks.is_empty() {
        kill(Vec::new(), None, &marks);
    }
}

/// Finds the session and the descendants of `leader`, whose id must not have been reused, and the processes with one of the marks.
///
/// Call this before asking the leader to end: afterwards, orphans can no longer be found by descent.
pub(crate) fn find(leader: Option<Pid>, marks: &[&Mark]) -> Vec<Handle> {
    search::find(leader, marks)
}

/// Kills the processes that were found earlier, and those that a new search finds.
pub(crate) fn kill(mut found: Vec<Handle>, leader: Option<Pid>, marks: &[&Mark]) {
    let mut clean_rounds = 0;
    for _ in 0..MAX_ROUNDS {
        // search before killing: an orphan cannot be found by its parent
        let survivors = search::find(leader, marks);
        if let Some(leader) = leader {
            // fails if the group has ended
            kill_process_group(leader, Signal::KILL).ok();
        }
        found.retain(Handle::is_alive);
        if survivors.is_empty() && found.is_empty() {
            clean_rounds += 1;
            if clean_rounds == CLEAN_ROUNDS {
                return;
            }
            continue;
        }
        clean_rounds = 0;
        found.iter().chain(&survivors).for_each(Handle::kill);
        thread::sleep(PAUSE);
    }
    tracing::warn!(
        leader = leader.map(|leader| leader.as_raw_nonzero().get()),
        "some processes survive SIGKILL"
    );
}
