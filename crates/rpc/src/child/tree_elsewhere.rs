//! Kills a process with its group. Systems without `/proc` have no way to find those that left the group.

use std::os::fd::OwnedFd;

use rustix::process::{Pid, Signal, kill_process_group};

/// Kills the group that `leader` leads. The leader's id must still be its own.
pub(super) fn kill(leader: Pid, _mark: &str) {
    // fails if the group is gone, which is what is wanted
    kill_process_group(leader, Signal::KILL).ok();
}

/// Nothing: only the group can be found.
pub(super) fn below(_leader: Pid, _mark: &str) -> Vec<OwnedFd> {
    Vec::new()
}

/// Nothing: none was found.
pub(super) fn kill_each(_processes: &[OwnedFd]) {}
