//! Finds processes in `/proc`: by group, session, descent and mark.
//!
//! Opens a handle of each process before inspecting it, so that a reused id is never killed. Zombies are ignored.

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::Mark;

/// A process, identified even if its id is reused.
#[derive(Debug)]
pub(crate) struct Handle(OwnedFd);

impl Handle {
    pub(crate) fn kill(&self) {
        // fails if the process has already ended
        pidfd_send_signal(&self.0, Signal::KILL).ok();
    }

    /// Returns whether the process is alive. A zombie is not.
    pub(crate) fn is_alive(&self) -> bool {
        let no_wait = Timespec { tv_sec: 0, tv_nsec: 0 };
        !matches!(poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&no_wait)), Ok(1..))
    }
}

/// Finds the living processes in the group or session of `leader`, its descendants, and the processes with one of the marks.
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

/// Number of fields of `/proc/PID/stat` between the session and the number of threads.
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
    folder.filter_map(|entry| inspect(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect()
}

fn inspect(pid: i32) -> Option<Living> {
    let handle = Handle(pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?);
    let stat = fs_err::read(format!("/proc/{pid}/stat")).ok()?;
    // `pid (name) state parent group session ...`, where the name may contain any character
    let end_of_name = memchr::memrchr(b')', &stat)?;
    let mut fields = str::from_utf8(&stat[end_of_name + 1..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let mut number = || fields.next()?.parse().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    let threads: i32 = fields.nth(THREADS_AFTER_SESSION)?.parse().ok()?;
    // a process whose first thread has exited looks like a zombie while its other threads still run
    let is_zombie = matches!(state, "Z" | "X") && threads <= 1;
    (!is_zombie).then_some(Living { handle, pid, parent, group, session })
}

fn descends(pid: i32, ancestor: i32, parents: &HashMap<i32, i32>) -> bool {
    let mut at = pid;
    // processes are not read atomically, so a cycle is possible in theory
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

/// Marks in the forms of environments and limits.
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
        // variables end with NUL, and the value of the marks variable is separated by spaces
        let is_end = |byte: &u8| matches!(byte, 0 | b'=' | b' ' | b'\n');
        read("environ").split(is_end).any(|word| self.in_environments.contains(word))
            || read("limits").split(is_end).any(|word| self.in_limits.contains(word))
    }
}
