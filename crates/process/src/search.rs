//! Finds processes in `/proc`: by group, session, descent and mark.
//!
//! A handle of each process is taken before it is looked at, so that a reused id is never hit. A zombie is not found.

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::Mark;

/// A process, which stays the same one whatever becomes of its id.
#[derive(Debug)]
pub(crate) struct Handle(OwnedFd);

impl Handle {
    pub(crate) fn kill(&self) {
        // fails if it has ended by itself
        pidfd_send_signal(&self.0, Signal::KILL).ok();
    }

    /// A zombie is not alive.
    pub(crate) fn is_alive(&self) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        !matches!(poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&at_once)), Ok(1..))
    }
}

/// Finds the living processes of the group and session of `leader`, below it, and with one of the marks.
pub(crate) fn find(leader: Option<Pid>, marks: &[&Mark]) -> Vec<Handle> {
    let leader = leader.map(|leader| leader.as_raw_nonzero().get());
    let marks = Marks::new(marks);
    let mut processes = living();
    let parents: HashMap<i32, i32> = processes.iter().map(|it| (it.pid, it.parent)).collect();
    let belongs = |it: &Living| {
        let to_leader =
            |leader| it.group == leader || it.session == leader || descends(it.pid, leader, &parents);
        leader.is_some_and(to_leader) || marks.are_on(it.pid)
    };
    processes.retain(belongs);
    processes.into_iter().map(|it| it.handle).collect()
}

/// Returns whether any living process carries the mark.
pub(crate) fn is_alive(mark: &Mark) -> bool {
    let marks = Marks::new(&[mark]);
    living().iter().any(|process| marks.are_on(process.pid))
}

/// How many fields of `/proc/PID/stat` lie between the session and the number of threads.
const THREADS_AFTER_SESSION: usize = 13;

struct Living {
    handle: Handle,
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
    let handle = Handle(pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?);
    let stat = fs_err::read(format!("/proc/{pid}/stat")).ok()?;
    // `pid (name) state parent group session ...`, and the name may hold anything
    let end_of_name = memchr::memrchr(b')', &stat)?;
    let mut fields = str::from_utf8(&stat[end_of_name + 1..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let mut number = || fields.next()?.parse().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    let threads: i32 = fields.nth(THREADS_AFTER_SESSION)?.parse().ok()?;
    // a process whose first thread has exited looks like a zombie while its other threads go on
    let is_zombie = matches!(state, "Z" | "X") && threads <= 1;
    (!is_zombie).then_some(Living { handle, pid, parent, group, session })
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

/// Marks as they read in environments and in limits.
struct Marks<'a> {
    in_environments: HashSet<&'a [u8]>,
    in_limits: HashSet<Vec<u8>>,
}

impl<'a> Marks<'a> {
    fn new(marks: &[&'a Mark]) -> Self {
        let in_limits = marks.iter().flat_map(|mark| mark.limit().texts());
        Self {
            in_environments: marks.iter().map(|mark| mark.as_str().as_bytes()).collect(),
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
