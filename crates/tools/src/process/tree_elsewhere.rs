//! Kills a command's group, on systems whose processes cannot be searched by environment.

use rustix::process::{Pid, Signal, kill_process_group};

/// Nothing can be remembered here.
#[derive(Debug, Default)]
pub(super) struct Family;

/// Nothing can be remembered here.
pub(super) fn family(_leader: Option<Pid>, _marks: &[&str]) -> Family {
    Family
}

/// Kills the group of `leader`, whose id must still be its own.
pub(super) fn kill(_family: Family, leader: Option<Pid>, _marks: &[&str]) {
    if let Some(leader) = leader {
        // fails if the group is gone, which is what is wanted
        kill_process_group(leader, Signal::KILL).ok();
    }
}

/// Not known here.
pub(super) fn is_alive(_mark: &str) -> bool {
    false
}
