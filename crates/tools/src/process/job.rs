//! One running command: waited for on its own thread, and ended with all its descendants when the handle is dropped.

use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};

use musher_process::{Child, Mark, Streams};
use tokio::sync::watch;
use tokio::time::timeout;

use super::{Ended, Shell};

#[derive(Debug)]
pub(crate) struct Job {
    process: Arc<Process>,
    /// The command does not have to be ended on drop.
    is_released: AtomicBool,
}

#[derive(Debug)]
struct Process {
    child: Child,
    ended: watch::Sender<Option<Ended>>,
}

impl Job {
    /// Starts a command. Without `stdin` its input is empty.
    pub(super) async fn start(
        shell: Shell<'_>,
        stdin: Option<OwnedFd>,
        stdout: OwnedFd,
        stderr: OwnedFd,
    ) -> io::Result<Self> {
        let stdin = stdin.map_or_else(Stdio::null, Stdio::from);
        let child =
            shell.program().spawn(Streams { stdin, stdout: stdout.into(), stderr: stderr.into() }).await?;
        let process = Arc::new(Process { child, ended: watch::Sender::new(None) });
        let job = Self { process: Arc::clone(&process), is_released: AtomicBool::new(false) };
        // if the thread cannot start, the job is dropped, which kills the command
        thread::Builder::new().name("shell-keeper".to_owned()).spawn(move || process.keep())?;
        Ok(job)
    }

    pub(super) fn id(&self) -> u32 {
        self.process.child.id()
    }

    pub(super) fn mark(&self) -> &Mark {
        self.process.child.mark()
    }

    /// Returns whether the command itself still runs.
    pub(super) fn is_running(&self) -> bool {
        self.handle().ended().is_none()
    }

    /// Waits until the command itself has ended. Its background processes may continue.
    pub(super) async fn exited(&self) -> Ended {
        self.handle().exited().await
    }

    /// Asks the process group to end, then kills everything.
    pub(super) async fn end(&self, grace: Duration) {
        self.handle().end(grace).await;
    }

    /// Returns another owner of the command. Unlike the job, it does not end the command on drop.
    pub(super) fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.process))
    }

    /// The job is over, or another owner takes care of the remaining processes.
    pub(super) fn release(&self) {
        self.is_released.store(true, Ordering::Relaxed);
    }
}

/// A command that another owner ends.
#[derive(Debug, Clone)]
pub(super) struct Handle(Arc<Process>);

impl Handle {
    /// Returns how the command has ended; `None` while it runs.
    pub(super) fn ended(&self) -> Option<Ended> {
        *self.0.ended.borrow()
    }

    /// Waits until the command itself has ended. Its background processes may continue.
    pub(super) async fn exited(&self) -> Ended {
        let mut changes = self.0.ended.subscribe();
        match changes.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(ended)) => *ended,
            // not possible: the value was checked, and the sender lives in this handle
            Ok(None) | Err(_) => Ended::Cancelled,
        }
    }

    /// Asks the process group to end, then kills everything.
    pub(super) async fn end(&self, grace: Duration) {
        // both fail only if the runtime is shutting down; then dropping the job kills the command
        let process = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || process.child.terminate()).await.ok();
        timeout(grace, self.exited()).await.ok();
        let process = Arc::clone(&self.0);
        if tokio::task::spawn_blocking(move || process.child.kill()).await.is_ok() {
            timeout(grace, self.exited()).await.ok();
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if self.is_released.load(Ordering::Relaxed) {
            return;
        }
        let process = Arc::clone(&self.process);
        // on a thread, because searching all processes takes a while and this may run in a task
        let kill = move || process.child.kill();
        if thread::Builder::new().name("shell-end".to_owned()).spawn(kill).is_err() {
            self.process.child.kill();
        }
    }
}

impl Process {
    fn keep(&self) {
        let status = self.child.reap();
        self.ended.send_replace(Some(status.map_or(Ended::Exited(-1), how)));
    }
}

fn how(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, Some(signal)) => Ended::Killed(signal),
        (None, None) => Ended::Exited(-1),
    }
}
