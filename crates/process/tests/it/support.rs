//! Test support: starts scripts, finds processes by the ids they print, and waits for them.

use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use musher_process::{Child, Command, Streams};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Commands for the end of a script: wait until the last background process is `sleep`, and print its id.
pub(crate) const PRINT_PID: &str = "until grep -q '(sleep)' /proc/$!/stat; do :; done; echo pid $!";

/// Starts `sleep` without marks and in a session of its own, so that it can be found by its parent only.
pub(crate) const UNMARKED: &str = "{ ulimit -x 5; ulimit -R 5; exec env -i setsid sleep 1000 <&- >&- 2>&-; }";

/// A process, not necessarily a child of the test.
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

    /// Waits until the process has ended.
    pub(crate) fn wait_for_end(&self) {
        // far longer than necessary: a timeout means that the process leaked
        assert!(self.ends_within(30), "the process is still running");
    }

    fn ends_within(&self, seconds: i64) -> bool {
        let timeout = Timespec { tv_sec: seconds, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&timeout)).unwrap() == 1
    }
}

/// Output of a program, read line by line.
#[derive(Debug)]
pub(crate) struct Output<R>(BufReader<R>);

impl<R: Read> Output<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self(BufReader::new(reader))
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).unwrap() > 0, "the output has ended");
        line.truncate(line.trim_end().len());
        line
    }

    /// Reads the line that [`PRINT_PID`] prints.
    pub(crate) fn process(&mut self) -> Process {
        Process::new(self.line().strip_prefix("pid ").expect("an id"))
    }
}

pub(crate) type Started = (Child, Output<std::process::ChildStdout>);

pub(crate) fn bash(script: &str) -> Command {
    Command::new("bash").args(["-c", script])
}

/// Starts a program with piped output, and with input that does not end.
pub(crate) async fn start(command: Command) -> Started {
    let streams = Streams { stderr: Stdio::null(), ..Streams::piped() };
    let mut child = command.spawn(streams).await.unwrap();
    let output = Output::new(child.stdout.take().unwrap());
    (child, output)
}
