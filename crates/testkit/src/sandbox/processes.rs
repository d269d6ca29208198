//! Finds and ends the processes of a sandbox by searching `/proc`, whatever their parent is.
//!
//! A process belongs to the sandbox if it has the marker in its environment or lives in the network namespace: a daemon that leaves its
//! session and its parent keeps both; one that clears its environment keeps the namespace.

use std::fmt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The interval of searches while waiting: the kernel has no event for "no such process is left".
const SEARCH_INTERVAL: Duration = Duration::from_millis(20);

/// Identifies the processes of one sandbox.
#[derive(Debug, Clone)]
pub(crate) struct Belongs {
    /// `NAME=value`, as in the environment.
    pub(crate) marker: String,
    /// The namespace, as `/proc/PID/ns/net` links to it.
    pub(crate) namespace: String,
}

/// A living process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The process id.
    pub pid: i32,
    /// The command line, arguments joined by spaces.
    pub command: String,
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.pid, self.command)
    }
}

impl Belongs {
    /// Returns all living processes of the sandbox; zombies count as dead.
    pub(crate) fn alive(&self) -> Vec<Leftover> {
        let Ok(entries) = fs_err::read_dir("/proc") else { return Vec::new() };
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        entries
            .filter_map(Result::ok)
            .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
            .filter(|(pid, proc)| *pid != own && self.owns(proc) && !is_dead(proc))
            .map(|(pid, proc)| Leftover { pid, command: command_line(&proc) })
            .collect()
    }

    /// Waits until no process is left or the time is over; returns the remaining ones.
    pub(crate) fn wait_gone(&self, timeout: Duration) -> Vec<Leftover> {
        let deadline = Instant::now() + timeout;
        loop {
            let alive = self.alive();
            if alive.is_empty() || Instant::now() >= deadline {
                return alive;
            }
            thread::sleep(SEARCH_INTERVAL);
        }
    }

    /// Ends all processes: SIGTERM first, then SIGKILL until none is left.
    pub(crate) fn end_all(&self, grace: Duration) {
        signal_each(&self.alive(), Signal::SIGTERM);
        let mut alive = self.wait_gone(grace);
        let deadline = Instant::now() + grace;
        // repeatedly, because a process that forks while it is being killed leaves a child that was not on the list
        while !alive.is_empty() && Instant::now() < deadline {
            signal_each(&alive, Signal::SIGKILL);
            alive = self.wait_gone(Duration::from_millis(200));
        }
    }

    // A process may end between listing and reading; then it is skipped. Plain reads without the path in the error, because no error here
    // is ever shown.
    fn owns(&self, proc: &Path) -> bool {
        let lives_here =
            proc.join("ns/net").read_link().is_ok_and(|link| link.as_os_str() == self.namespace.as_str());
        lives_here
            || fs_err::read(proc.join("environ"))
                .is_ok_and(|environ| has_entry(&environ, self.marker.as_bytes()))
    }
}

fn signal_each(processes: &[Leftover], signal: Signal) {
    for process in processes {
        // an error means that it is gone already
        kill(Pid::from_raw(process.pid), signal).ok();
    }
}

fn has_entry(environ: &[u8], entry: &[u8]) -> bool {
    environ.split(|byte| *byte == 0).any(|candidate| candidate == entry)
}

/// Reads the state: the first field after the command name, which is in parentheses and may contain any character.
fn is_dead(proc: &Path) -> bool {
    let Ok(stat) = fs_err::read(proc.join("stat")) else { return true };
    let after_name = stat.iter().rposition(|byte| *byte == b')').map_or(0, |at| at + 2);
    matches!(stat.get(after_name), Some(b'Z' | b'X') | None)
}

fn command_line(proc: &Path) -> String {
    let words = fs_err::read(proc.join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).trim_end_matches('\0').replace('\0', " ")
}
