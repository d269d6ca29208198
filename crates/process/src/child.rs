//! A running program: waited for, asked to end, and killed with everything below it.
//!
//! The id of a process is free for others once it has been waited for. So signals and the final wait exclude each other.

use std::process::{self, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{io, mem, thread};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::guard::Registration;
use crate::search::Handle;
use crate::{Mark, Spawner, tree};

/// A program that was started. It is killed, with everything below it, when this is dropped before [`reap`](Self::reap).
///
/// Nothing here is asynchronous: [`wait`](Self::wait) and [`reap`](Self::reap) want a thread of their own, and ending a program takes
/// a look at every process of the system.
///
/// ```
/// use std::os::unix::process::ExitStatusExt as _;
/// use musher_process::{Command, Streams};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// let child = Command::new("sleep").arg("1000").spawn(Streams::null()).await?;
/// child.terminate();
/// assert_eq!(child.reap()?.signal(), Some(15));
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "a program is killed when its handle is dropped"]
pub struct Child {
    /// Our end of its standard input, if it was piped.
    pub stdin: Option<ChildStdin>,
    /// Our end of its standard output, if it was piped.
    pub stdout: Option<ChildStdout>,
    /// Our end of its standard error, if it was piped.
    pub stderr: Option<ChildStderr>,
    pid: Pid,
    mark: Mark,
    keeps_remains: bool,
    /// Kept because the kernel ends the program with the thread that forked it.
    _spawner: Option<Arc<dyn Spawner>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// `None` once it has been waited for.
    process: Option<process::Child>,
    registration: Option<Registration>,
    /// What was found below it before it was asked to end.
    remembered: Vec<Handle>,
}

impl Child {
    pub(crate) fn new(
        mut process: process::Child,
        pid: Pid,
        mark: Mark,
        registration: Registration,
        keeps_remains: bool,
        spawner: Option<Arc<dyn Spawner>>,
    ) -> Self {
        let (stdin, stdout, stderr) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let state =
            State { process: Some(process), registration: Some(registration), remembered: Vec::new() };
        Self { stdin, stdout, stderr, pid, mark, keeps_remains, _spawner: spawner, state: Mutex::new(state) }
    }

    /// Returns the process id, which is also the id of its group and of its session.
    pub fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Returns the mark that the program and everything below it carries.
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Blocks until the program has exited. Its id stays its own until [`reap`](Self::reap).
    pub fn wait(&self) {
        if self.state().process.is_some() {
            let without_reaping = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(self.pid), without_reaping), Err(Errno::INTR)) {}
        }
    }

    /// Blocks until the program has exited, kills what it left running, and returns its exit status.
    ///
    /// What it left lives on after [`Command::keep_remains`](crate::Command::keep_remains). To be called once, by one thread; it fails
    /// afterwards.
    pub fn reap(&self) -> io::Result<ExitStatus> {
        self.wait();
        if !self.keeps_remains {
            self.kill();
        }
        let mut state = self.state();
        // while the id is still its own: the guard must not kill a group of somebody else
        drop(state.registration.take());
        match state.process.take() {
            Some(mut process) => process.wait(),
            None => Err(io::Error::other("bug: the process was reaped before")),
        }
    }

    /// Sends SIGINT to the group of the program, and remembers what is below it.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Sends SIGTERM to the group of the program, and remembers what is below it.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills the program and everything it started; after [`reap`](Self::reap), what is left of that.
    pub fn kill(&self) {
        let mut state = self.state();
        let remembered = mem::take(&mut state.remembered);
        tree::kill(remembered, state.leader(self.pid), &[&self.mark]);
    }

    fn signal(&self, signal: Signal) {
        let mut state = self.state();
        let leader = state.leader(self.pid);
        // once the program is gone, a process that left its group and lost its marks is not known any more
        state.remembered.extend(tree::find(leader, &[&self.mark]));
        if let Some(leader) = leader {
            // fails if the whole group is gone, which is what is wanted
            kill_process_group(leader, signal).ok();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // every change is a single assignment, so a panic elsewhere leaves nothing half done
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn leader(&self, pid: Pid) -> Option<Pid> {
        self.process.is_some().then_some(pid)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.state().process.is_none() {
            return;
        }
        self.kill();
        let mut state = self.state();
        drop(state.registration.take());
        if let Some(mut process) = state.process.take()
            && !matches!(process.try_wait(), Ok(Some(_)))
        {
            // it resists SIGKILL: nobody but a thread of its own may wait for that
            thread::Builder::new().name("reaper".to_owned()).spawn(move || process.wait()).ok();
        }
    }
}
