//! Finds and ends the processes of a sandbox by looking at `/proc`, whoever their parent is by now.
//!
//! A process belongs to the sandbox if it carries the marker in its environment or lives in the network namespace: a daemon that
//! leaves its session and its parent loses neither; one that cleans its environment keeps the namespace.

use std::fmt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How often `/proc` is looked at while waiting: the kernel has no event for "none of these is left".
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What tells the processes of one sandbox from all others.
#[derive(Debug, Clone)]
pub(crate) struct Belongs {
    /// `NAME=value` as it stands in the environment.
    pub(crate) marker: String,
    /// The namespace, as `/proc/PID/ns/net` links to it.
    pub(crate) namespace: String,
}

/// A process found alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its id.
    pub pid: i32,
    /// Its command line, words joined by spaces.
    pub command: String,
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.pid, self.command)
    }
}

impl Belongs {
    /// All living processes of the sandbox; zombies are dead.
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

    /// Waits until none is left or the time is over; gives what is left.
    pub(crate) fn wait_gone(&self, patience: Duration) -> Vec<Leftover> {
        let deadline = Instant::now() + patience;
        loop {
            let alive = self.alive();
            if alive.is_empty() || Instant::now() >= deadline {
                return alive;
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Ends all of them: politely first, then by force until none is left.
    pub(crate) fn end_all(&self, grace: Duration) {
        signal_each(&self.alive(), Signal::SIGTERM);
        let mut alive = self.wait_gone(grace);
        let deadline = Instant::now() + grace;
        // Again and again: one that forks while it is being killed leaves a child that was not on the list.
        while !alive.is_empty() && Instant::now() < deadline {
            signal_each(&alive, Signal::SIGKILL);
            alive = self.wait_gone(Duration::from_millis(200));
        }
    }

    // A process may end between listing and reading: then it is not ours any more. Plain reads without the path in the error,
    // because no error here is ever shown.
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
        // Already gone is what we want.
        kill(Pid::from_raw(process.pid), signal).ok();
    }
}

fn has_entry(environ: &[u8], entry: &[u8]) -> bool {
    environ.split(|byte| *byte == 0).any(|candidate| candidate == entry)
}

/// The state is the first word after the command name, which stands in parentheses and may itself hold any character.
fn is_dead(proc: &Path) -> bool {
    let Ok(stat) = fs_err::read(proc.join("stat")) else { return true };
    let after_name = stat.iter().rposition(|byte| *byte == b')').map_or(0, |at| at + 2);
    matches!(stat.get(after_name), Some(b'Z' | b'X') | None)
}

fn command_line(proc: &Path) -> String {
    let words = fs_err::read(proc.join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).trim_end_matches('\0').replace('\0', " ")
}
