//! One running command: waited for on a thread of its own, and ended with everything below it when its handle is dropped.
//!
//! The id of a process is free for others once it has been waited for. So signals and the final wait exclude each other.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::watch;
use tokio::time::timeout;

use super::tree::Family;
use super::{Ended, Shell, spawn, tree};

#[derive(Debug)]
pub(crate) struct Job {
    process: Arc<Process>,
    /// Nobody has to end it any more.
    is_released: AtomicBool,
}

#[derive(Debug)]
struct Process {
    pid: Pid,
    mark: String,
    /// Whether the id is still the command's own.
    is_ours: Mutex<bool>,
    ended: watch::Sender<Option<Ended>>,
}

impl Job {
    pub(super) async fn start(
        shell: Shell<'_>,
        stdin: Option<OwnedFd>,
        stdout: OwnedFd,
        stderr: OwnedFd,
    ) -> io::Result<Self> {
        let forked = spawn::fork(shell, stdin, stdout, stderr).await?;
        let process = Arc::new(Process {
            pid: forked.pid,
            mark: forked.mark,
            is_ours: Mutex::new(true),
            ended: watch::Sender::new(None),
        });
        let job = Self { process: Arc::clone(&process), is_released: AtomicBool::new(false) };
        // if there is no thread, the job is dropped, which kills the command
        thread::Builder::new().name("shell-keeper".to_owned()).spawn(move || process.keep(forked.child))?;
        Ok(job)
    }

    pub(super) fn id(&self) -> u32 {
        self.process.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(super) fn mark(&self) -> &str {
        &self.process.mark
    }

    /// Whether the command itself still runs.
    pub(super) fn is_running(&self) -> bool {
        self.process.ended.borrow().is_none()
    }

    /// Waits until the command itself has ended. What it has started may go on.
    pub(super) async fn exited(&self) -> Ended {
        let mut changes = self.process.ended.subscribe();
        match changes.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(ended)) => *ended,
            // not possible: the value was checked, and we hold the sending half
            Ok(None) | Err(_) => Ended::Cancelled,
        }
    }

    /// Asks the group to end, and then ends everything.
    pub(super) async fn end(&self, grace: Duration) {
        // each fails only if the runtime is shutting down: then dropping the job does it
        let process = Arc::clone(&self.process);
        let family = tokio::task::spawn_blocking(move || process.ask_to_end()).await.unwrap_or_default();
        timeout(grace, self.exited()).await.ok();
        let process = Arc::clone(&self.process);
        if tokio::task::spawn_blocking(move || process.kill(family)).await.is_ok() {
            timeout(grace, self.exited()).await.ok();
        }
    }

    /// The job is over, or somebody else takes care of what is left of it.
    pub(super) fn release(&self) {
        self.is_released.store(true, Ordering::Relaxed);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if self.is_released.load(Ordering::Relaxed) {
            return;
        }
        let process = Arc::clone(&self.process);
        let kill = move || process.kill(Family::default());
        // on a thread: looking for all processes takes a while, and this may be a task's
        if thread::Builder::new().name("shell-end".to_owned()).spawn(kill).is_err() {
            self.process.kill(Family::default());
        }
    }
}

impl Process {
    fn keep(&self, mut child: Child) {
        let without_reaping = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.pid), without_reaping), Err(Errno::INTR)) {}
        let status = {
            let mut is_ours = self.is_ours();
            *is_ours = false;
            child.wait()
        };
        self.ended.send_replace(Some(status.map_or(Ended::Exited(-1), how)));
    }

    fn ask_to_end(&self) -> Family {
        let is_ours = self.is_ours();
        let family = tree::family(is_ours.then_some(self.pid), &[&self.mark]);
        if *is_ours {
            // fails if all of the group are gone, which is what is wanted
            kill_process_group(self.pid, Signal::TERM).ok();
        }
        family
    }

    fn kill(&self, family: Family) {
        let is_ours = self.is_ours();
        let leader = is_ours.then_some(self.pid);
        tree::kill(family, leader, &[&self.mark]);
    }

    fn is_ours(&self) -> MutexGuard<'_, bool> {
        self.is_ours.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn how(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, Some(signal)) => Ended::Killed(signal),
        (None, None) => Ended::Exited(-1),
    }
}
