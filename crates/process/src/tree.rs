//! Kills a program with everything it started: its group and session, whatever descends from it, and whatever carries its mark.

use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::Mark;
use crate::search::{self, Handle};

/// How often to look for survivors: a killed process takes a moment to go, and may have forked before.
const MAX_ROUNDS: usize = 100;
const PAUSE: Duration = Duration::from_millis(5);

/// Kills everything that carries one of the marks. Blocks for a moment.
///
/// Does nothing on systems other than Linux, where marks cannot be read.
///
/// ```
/// use musher_process::{Command, Streams, kill_marked};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// let command = Command::new("sh").args(["-c", "sleep 1000 & true"]).keep_remains();
/// let child = command.spawn(Streams::null()).await?;
/// assert!(child.reap()?.success());
/// assert!(child.mark().is_alive(), "the sleep lives on");
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

/// Finds the session and the descendants of `leader`, whose id must still be its own, and everything with one of the marks.
///
/// To be called before the leader is asked to end: when it is gone, nobody knows any more whose child a process was.
pub(crate) fn find(leader: Option<Pid>, marks: &[&Mark]) -> Vec<Handle> {
    search::find(leader, marks)
}

/// Kills what was found earlier, and everything that belongs to it by now.
pub(crate) fn kill(mut found: Vec<Handle>, leader: Option<Pid>, marks: &[&Mark]) {
    for _ in 0..MAX_ROUNDS {
        // before anything is killed: an orphan is not known by its parent any more
        let survivors = search::find(leader, marks);
        if let Some(leader) = leader {
            // fails if the group is gone, which is what is wanted
            kill_process_group(leader, Signal::KILL).ok();
        }
        found.retain(Handle::is_alive);
        if survivors.is_empty() && found.is_empty() {
            return;
        }
        found.iter().chain(&survivors).for_each(Handle::kill);
        thread::sleep(PAUSE);
    }
    tracing::warn!(
        leader = leader.map(|leader| leader.as_raw_nonzero().get()),
        "some processes survive SIGKILL"
    );
}
