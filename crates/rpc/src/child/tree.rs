//! Kills a process with everything it started: its group, and whatever carries its mark or descends from it elsewhere.
//!
//! Not found is a process that left the group, changed its parent and cleared its environment. A handle of each process is
//! taken before it is looked at, so that a reused id is never hit.

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

/// How often to look for survivors: a killed process takes a moment to go, and may have forked before.
const ROUNDS: usize = 100;
const PAUSE: Duration = Duration::from_millis(5);

/// Kills the group that `leader` leads and all processes below it. The leader's id must still be its own.
pub(super) fn kill(leader: Pid, mark: &str) {
    for _ in 0..ROUNDS {
        // fails if the group is gone, which is what is wanted
        kill_process_group(leader, Signal::KILL).ok();
        let survivors = survivors(leader.as_raw_nonzero().get(), mark);
        if survivors.is_empty() {
            return;
        }
        for process in survivors {
            // fails if it has ended by itself
            pidfd_send_signal(process, Signal::KILL).ok();
        }
        thread::sleep(PAUSE);
    }
    tracing::warn!(leader = leader.as_raw_nonzero().get(), "some processes of an agent survive SIGKILL");
}

/// The living processes below `leader`, itself among them, as handles that never hit another process.
pub(super) fn below(leader: Pid, mark: &str) -> Vec<OwnedFd> {
    survivors(leader.as_raw_nonzero().get(), mark)
}

/// Kills processes found earlier.
pub(super) fn kill_each(processes: &[OwnedFd]) {
    for process in processes {
        // fails if it has ended
        pidfd_send_signal(process, Signal::KILL).ok();
    }
}

/// The living processes of the group, with the mark, or below the leader.
fn survivors(leader: i32, mark: &str) -> Vec<OwnedFd> {
    let mut processes = living();
    let parents: HashMap<i32, i32> = processes.iter().map(|it| (it.pid, it.parent)).collect();
    let ours: HashSet<i32> = processes
        .iter()
        .filter(|it| it.group == leader || descends(it.pid, leader, &parents) || is_marked(it.pid, mark))
        .map(|it| it.pid)
        .collect();
    processes.retain(|it| ours.contains(&it.pid));
    processes.into_iter().map(|it| it.handle).collect()
}

struct Living {
    handle: OwnedFd,
    pid: i32,
    parent: i32,
    group: i32,
}

fn living() -> Vec<Living> {
    let Ok(folder) = fs_err::read_dir("/proc") else { return Vec::new() };
    folder.filter_map(|entry| look_at(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect()
}

fn look_at(pid: i32) -> Option<Living> {
    let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let stat = fs_err::read(format!("/proc/{pid}/stat")).ok()?;
    // `pid (name) state parent group ...`, and the name may hold anything
    let end_of_name = memchr::memrchr(b')', &stat)?;
    let mut fields = str::from_utf8(&stat[end_of_name + 1..]).ok()?.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    Some(Living { handle, pid, parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
}

fn descends(pid: i32, ancestor: i32, parents: &HashMap<i32, i32>) -> bool {
    let mut at = pid;
    // ids are read one after the other, so a circle is possible in theory
    for _ in 0..parents.len() {
        if at == ancestor {
            return true;
        }
        match parents.get(&at) {
            Some(parent) => at = *parent,
            None => return false,
        }
    }
    false
}

fn is_marked(pid: i32, mark: &str) -> bool {
    let environment = fs_err::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    memchr::memmem::find(&environment, mark.as_bytes()).is_some()
}
