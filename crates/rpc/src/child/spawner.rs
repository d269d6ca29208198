//! Forks: in a session of its own, marked, and tied to our life.

use std::fmt;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{self, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;

use rustix::process::{Pid, Signal};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::guard::Guarded;
use super::{Launch, ParentDeath, tree};

/// The variable every process below an agent inherits. Its value lists the marks of all agents above it.
const MARKS: &str = "MUSHER_PROCESS_MARKS";

/// Runs a closure on a thread that lives at least as long as the agents forked there.
///
/// The kernel ends an agent when the *thread* that forked it ends, so a thread of a pool will not do. By default one thread of
/// the process does it. Give another with [`Launch::spawn_on`] if the agent has to inherit something from the thread, such
/// as a network namespace.
pub trait Spawner: fmt::Debug + Send + Sync {
    /// Runs `job` there. Need not wait for it.
    fn run(&self, job: Box<dyn FnOnce() + Send>);
}

/// A process that was just started. Killed when dropped.
#[derive(Debug)]
pub(super) struct Forked {
    child: Option<process::Child>,
    pid: Pid,
    mark: String,
    /// Left alone by the guard after the process was waited for.
    _guarded: Option<Guarded>,
}

pub(super) async fn fork(launch: &Launch) -> io::Result<Forked> {
    let (done, result) = oneshot::channel();
    let mark = Uuid::new_v4().to_string();
    let mut command = command(launch, &mark);
    let parent_death = launch.parent_death;
    let job = Box::new(move || {
        // If the caller is gone, the process comes back as an error and is killed with it.
        done.send(start(&mut command, mark, parent_death)).ok();
    });
    match &launch.spawner {
        Some(spawner) => spawner.run(job),
        None => our_thread()?.send(job).map_err(|_gone| thread_gone())?,
    }
    result.await.map_err(|_gone| thread_gone())?
}

fn command(launch: &Launch, mark: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the place where agents are started")]
    let mut command = Command::new(&launch.program);
    command.args(&launch.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if launch.is_env_cleared {
        command.env_clear();
    }
    for (key, value) in &launch.env {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    let above = std::env::var(MARKS).unwrap_or_default();
    command.env(MARKS, format!("{above} {mark}").trim());
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    command
}

fn start(command: &mut Command, mark: String, parent_death: ParentDeath) -> io::Result<Forked> {
    let parent = rustix::process::getpid();
    let prepare = move || {
        // A session of its own: signals reach the whole group, and no terminal can stop it or be drawn on.
        rustix::process::setsid()?;
        tie_to(parent, parent_death)
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed: setsid, prctl and getppid are plain system calls,
    // and the closure neither allocates nor takes a lock.
    #[expect(unsafe_code, reason = "there is no safe way to run code between fork and exec")]
    unsafe {
        command.pre_exec(prepare);
    }
    let child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("the process id is out of range"))?;
    // after the fork: the agent starts meanwhile, and until the guard stands the kernel's signal must do
    let guarded = Guarded::new(pid, &mark, parent_death).inspect_err(
        |error| tracing::debug!(%error, "no guard: only the process itself is ended should we be killed"),
    );
    Ok(Forked { child: Some(child), pid, mark, _guarded: guarded.ok() })
}

/// Asks the kernel to end this process when the thread that forked it ends, by SIGKILL of our process for example.
#[cfg(target_os = "linux")]
fn tie_to(parent: Pid, parent_death: ParentDeath) -> io::Result<()> {
    let signal = match parent_death {
        ParentDeath::Kill => Signal::KILL,
        ParentDeath::Interrupt => Signal::INT,
    };
    rustix::process::set_parent_process_death_signal(Some(signal))?;
    // it may have died before we asked
    if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
}

#[cfg(not(target_os = "linux"))]
fn tie_to(_parent: Pid, _parent_death: ParentDeath) -> io::Result<()> {
    Ok(())
}

impl Forked {
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    pub(super) fn pipes(&mut self) -> io::Result<(ChildStdin, ChildStdout, ChildStderr)> {
        let pipes = self
            .child
            .as_mut()
            .and_then(|child| Some((child.stdin.take()?, child.stdout.take()?, child.stderr.take()?)));
        pipes.ok_or_else(|| io::Error::other("bug: the pipes of the process are gone"))
    }

    /// Waits for the process that has exited, so that its id is free again.
    pub(super) fn reap(mut self) -> io::Result<process::ExitStatus> {
        match self.child.take() {
            Some(mut child) => child.wait(),
            None => Err(io::Error::other("bug: the process was reaped before")),
        }
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            tree::kill(self.pid, &self.mark);
            child.wait().ok();
        }
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// The thread that forks, for as long as this process lives.
fn our_thread() -> io::Result<mpsc::SyncSender<Job>> {
    static THREAD: OnceLock<mpsc::SyncSender<Job>> = OnceLock::new();
    if let Some(jobs) = THREAD.get() {
        return Ok(jobs.clone());
    }
    let (jobs, queue) = mpsc::sync_channel::<Job>(64);
    thread::Builder::new()
        .name("spawner".to_owned())
        .spawn(move || queue.into_iter().for_each(|job| job()))?;
    // of two that come first at the same time one thread is left over: its channel is dropped, so it ends
    Ok(THREAD.get_or_init(|| jobs).clone())
}

fn thread_gone() -> io::Error {
    io::Error::other("the thread that starts programs is gone")
}
