//! A running program: wait for it, ask it to end, and kill it with all its descendants.
//!
//! The id of a process can be reused once the process has been waited for. So signals and the final wait exclude each other.

use std::process::{self, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{io, mem, thread};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::guard::Registration;
use crate::search::Handle;
use crate::{Mark, Spawner, tree};

/// A running program. Dropping it before [`reap`](Self::reap) kills the program with all its descendants.
///
/// All methods are synchronous: [`wait`](Self::wait) and [`reap`](Self::reap) block, so they need a thread of their own, and ending
/// a program inspects every process of the system.
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
    /// Pipe to its standard input, if it was piped.
    pub stdin: Option<ChildStdin>,
    /// Pipe from its standard output, if it was piped.
    pub stdout: Option<ChildStdout>,
    /// Pipe from its standard error, if it was piped.
    pub stderr: Option<ChildStderr>,
    pid: Pid,
    mark: Mark,
    keeps_descendants: bool,
    /// Kept because the kernel kills the program when the thread that forked it ends.
    _spawner: Option<Arc<dyn Spawner>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// `None` once the process has been waited for.
    process: Option<process::Child>,
    registration: Option<Registration>,
    /// Descendants that were found before the program was asked to end.
    remembered: Vec<Handle>,
}

impl Child {
    pub(crate) fn new(
        mut process: process::Child,
        pid: Pid,
        mark: Mark,
        registration: Registration,
        keeps_descendants: bool,
        spawner: Option<Arc<dyn Spawner>>,
    ) -> Self {
        let (stdin, stdout, stderr) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let state =
            State { process: Some(process), registration: Some(registration), remembered: Vec::new() };
        Self {
            stdin,
            stdout,
            stderr,
            pid,
            mark,
            keeps_descendants,
            _spawner: spawner,
            state: Mutex::new(state),
        }
    }

    /// Returns the process id, which is also the id of its group and of its session.
    pub fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Returns the mark of the program and its descendants.
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Blocks until the program has exited. Its id is not reused before [`reap`](Self::reap).
    pub fn wait(&self) {
        if self.state().process.is_some() {
            let without_reaping = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(self.pid), without_reaping), Err(Errno::INTR)) {}
        }
    }

    /// Blocks until the program has exited, kills its descendants, and returns its exit status.
    ///
    /// [`Command::keep_descendants`](crate::Command::keep_descendants) keeps the descendants running. The second call fails.
    pub fn reap(&self) -> io::Result<ExitStatus> {
        self.wait();
        if !self.keeps_descendants {
            self.kill();
        }
        let mut state = self.state();
        // before the id can be reused: the guard must not kill an unrelated group
        drop(state.registration.take());
        match state.process.take() {
            Some(mut process) => {
                let status = process.wait();
                tracing::info!(pid = self.id(), status = ?status.as_ref().ok(), "child exited");
                status
            }
            None => Err(io::Error::other("bug: the process has already been reaped")),
        }
    }

    /// Sends SIGINT to the group of the program, and remembers its descendants.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Sends SIGTERM to the group of the program, and remembers its descendants.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills the program and all its descendants; after [`reap`](Self::reap), the remaining descendants.
    pub fn kill(&self) {
        let mut state = self.state();
        let remembered = mem::take(&mut state.remembered);
        tree::kill(remembered, state.leader(self.pid), &[&self.mark]);
    }

    fn signal(&self, signal: Signal) {
        let mut state = self.state();
        let leader = state.leader(self.pid);
        // once the program has ended, a descendant without its group and marks could not be found
        state.remembered.extend(tree::find(leader, &[&self.mark]));
        if let Some(leader) = leader {
            // fails if the whole group has ended
            kill_process_group(leader, signal).ok();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // every change is a single assignment, so a panic cannot leave an inconsistent state
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
        tracing::info!(pid = self.id(), "child killed");
        let mut state = self.state();
        drop(state.registration.take());
        if let Some(mut process) = state.process.take()
            && !matches!(process.try_wait(), Ok(Some(_)))
        {
            // the process resists SIGKILL, so only a separate thread may wait for it
            thread::Builder::new().name("reaper".to_owned()).spawn(move || process.wait()).ok();
        }
    }
}
