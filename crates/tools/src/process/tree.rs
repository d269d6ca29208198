//! Kills a command with everything it started: its group and session, and whatever carries its mark or descends from it elsewhere.
//!
//! The mark is in the environment and in the limits, so that what has cleared the one is known by the other. A handle of each
//! process is taken before it is looked at, so that a reused id is never hit.

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::brand::Brand;

/// How often to look for survivors: a killed process takes a moment to go, and may have forked before.
const ROUNDS: usize = 100;
const PAUSE: Duration = Duration::from_millis(5);

/// Handles of processes, which stay theirs whatever becomes of their ids.
pub(super) type Family = Vec<OwnedFd>;

/// The session and descendants of `leader`, whose id must still be its own, and everything with one of the marks.
///
/// Taken before the leader is asked to end: when it is gone, nobody knows any more whose child a process was.
pub(super) fn family(leader: Option<Pid>, marks: &[&str]) -> Family {
    survivors(leader.map(|leader| leader.as_raw_nonzero().get()), &Marks::of(marks))
}

/// Kills the family, and whoever belongs to it by now.
pub(super) fn kill(family: Family, leader: Option<Pid>, marks: &[&str]) {
    for process in family {
        // fails if it has ended by itself
        pidfd_send_signal(process, Signal::KILL).ok();
    }
    let leader = leader.map(|leader| leader.as_raw_nonzero().get());
    let marks = Marks::of(marks);
    for _ in 0..ROUNDS {
        let survivors = survivors(leader, &marks);
        if survivors.is_empty() {
            return;
        }
        for process in survivors {
            // fails if it has ended by itself
            pidfd_send_signal(process, Signal::KILL).ok();
        }
        thread::sleep(PAUSE);
    }
    tracing::warn!(?leader, "some processes of a command survive SIGKILL");
}

/// Whether anything with the mark lives.
pub(super) fn is_alive(mark: &str) -> bool {
    let marks = Marks::of(&[mark]);
    living().iter().any(|process| marks.are_on(process.pid))
}

fn survivors(leader: Option<i32>, marks: &Marks<'_>) -> Vec<OwnedFd> {
    let mut processes = living();
    let parents: HashMap<i32, i32> = processes.iter().map(|it| (it.pid, it.parent)).collect();
    let belongs = |it: &Living| {
        let to_leader =
            |leader| it.group == leader || it.session == leader || descends(it.pid, leader, &parents);
        leader.is_some_and(to_leader) || marks.are_on(it.pid)
    };
    let ours: HashSet<i32> = processes.iter().filter(|it| belongs(it)).map(|it| it.pid).collect();
    processes.retain(|it| ours.contains(&it.pid));
    processes.into_iter().map(|it| it.handle).collect()
}

struct Living {
    handle: OwnedFd,
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
}

fn living() -> Vec<Living> {
    let Ok(folder) = fs_err::read_dir("/proc") else { return Vec::new() };
    folder.filter_map(|entry| look_at(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect()
}

fn look_at(pid: i32) -> Option<Living> {
    let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let stat = fs_err::read(format!("/proc/{pid}/stat")).ok()?;
    // `pid (name) state parent group session ...`, and the name may hold anything
    let end_of_name = memchr::memrchr(b')', &stat)?;
    let mut fields = str::from_utf8(&stat[end_of_name + 1..]).ok()?.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    let mut number = || fields.next()?.parse().ok();
    Some(Living { handle, pid, parent: number()?, group: number()?, session: number()? })
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

/// Marks, as they read in environments and in limits.
struct Marks<'a> {
    in_environments: HashSet<&'a [u8]>,
    in_limits: HashSet<Vec<u8>>,
}

impl<'a> Marks<'a> {
    fn of(marks: &[&'a str]) -> Self {
        let in_limits = marks.iter().flat_map(|mark| Brand::of(mark).texts());
        Self {
            in_environments: marks.iter().map(|mark| mark.as_bytes()).collect(),
            in_limits: in_limits.map(String::into_bytes).collect(),
        }
    }

    fn are_on(&self, pid: i32) -> bool {
        let read = |file: &str| fs_err::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        // variables end with a zero, and the value of ours has spaces between the marks
        let is_end = |byte: &u8| matches!(byte, 0 | b'=' | b' ' | b'\n');
        read("environ").split(is_end).any(|word| self.in_environments.contains(word))
            || read("limits").split(is_end).any(|word| self.in_limits.contains(word))
    }
}
