//! Real processes: started by scripts, found by the ids they print, and waited for.

use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use musher_process::{Child, Command, Streams};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// The end of a script: waits until the last process in the background is `sleep`, and prints its id.
pub(crate) const TELL: &str = "until grep -q '(sleep)' /proc/$!/stat; do :; done; echo pid $!";

/// `sleep` without any mark, in a session of its own: it is known by its parent only.
pub(crate) const UNMARKED: &str = "{ ulimit -x 5; ulimit -R 5; exec env -i setsid sleep 1000 <&- >&- 2>&-; }";

/// A process that need not be our child.
#[derive(Debug)]
pub(crate) struct Process(OwnedFd);

impl Process {
    pub(crate) fn new(pid: &str) -> Self {
        let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
        Self(pidfd_open(pid, PidfdFlags::empty()).unwrap())
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.ends_within(0)
    }

    /// Waits until it has ended.
    pub(crate) fn until_gone(&self) {
        // far more than it takes: a test that needs it has found a leak
        assert!(self.ends_within(30), "it lives on");
    }

    fn ends_within(&self, seconds: i64) -> bool {
        let timeout = Timespec { tv_sec: seconds, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&timeout)).unwrap() == 1
    }
}

/// What a program prints, line by line.
#[derive(Debug)]
pub(crate) struct Output<R>(BufReader<R>);

impl<R: Read> Output<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self(BufReader::new(reader))
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).unwrap() > 0, "it has ended");
        line.truncate(line.trim_end().len());
        line
    }

    /// Reads the line of [`TELL`].
    pub(crate) fn process(&mut self) -> Process {
        Process::new(self.line().strip_prefix("pid ").expect("an id"))
    }
}

pub(crate) type Started = (Child, Output<std::process::ChildStdout>);

pub(crate) fn bash(script: &str) -> Command {
    Command::new("bash").args(["-c", script])
}

/// Starts a program whose output is read, and whose input does not end.
pub(crate) async fn start(command: Command) -> Started {
    let streams = Streams { stderr: Stdio::null(), ..Streams::piped() };
    let mut child = command.spawn(streams).await.unwrap();
    let output = Output::new(child.stdout.take().unwrap());
    (child, output)
}
