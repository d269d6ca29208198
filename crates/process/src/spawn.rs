//! Forks on a thread that lives as long as this process, because the kernel sends the parent-death signal when the forking *thread*
//! ends.

use std::sync::{OnceLock, mpsc};
use std::{fmt, io, process, thread};

use rustix::process::Pid;
use tokio::sync::oneshot;

use crate::guard::Registration;
use crate::pre_exec::PreExec;
use crate::sandbox::Prepared;
use crate::{Child, Command, Mark, Streams};

/// Runs a closure on a thread that lives at least as long as this spawner.
///
/// The kernel kills a program when the *thread* that forked it ends, so threads of a pool are unsuitable. A [`Child`] keeps its
/// spawner alive. By default, one thread of this process forks all programs. Set another one with [`Command::spawn_on`] if a program
/// must inherit a property of the thread, such as a network namespace.
///
/// ```
/// use std::sync::{Arc, mpsc};
/// use musher_process::{Command, Spawner, Streams};
///
/// type Job = Box<dyn FnOnce() + Send>;
///
/// #[derive(Debug)]
/// struct OwnThread(mpsc::SyncSender<Job>);
///
/// impl Spawner for OwnThread {
///     fn run(&self, job: Job) {
///         // a job that is dropped makes the spawn fail
///         self.0.send(job).ok();
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// let (jobs, queue) = mpsc::sync_channel::<Job>(1);
/// std::thread::spawn(move || queue.into_iter().for_each(|job| job()));
/// let spawner = Arc::new(OwnThread(jobs));
/// let child = Command::new("true").spawn_on(spawner).spawn(Streams::null()).await?;
/// assert!(child.reap()?.success());
/// # Ok(()) }
/// ```
pub trait Spawner: fmt::Debug + Send + Sync {
    /// Runs `job` on that thread. May return before the job is done.
    fn run(&self, job: Box<dyn FnOnce() + Send>);
}

pub(crate) async fn spawn(command: &Command, streams: Streams) -> io::Result<Child> {
    let (done, result) = oneshot::channel();
    let start = Start::new(command, streams);
    // if the caller has been dropped, sending fails, and dropping the child kills it
    let job: Job = Box::new(move || drop(done.send(start.run())));
    match &command.spawner {
        Some(spawner) => spawner.run(job),
        None => fork_thread()?.send(job).map_err(|_gone| thread_gone())?,
    }
    let child = result.await.map_err(|_gone| thread_gone())??;
    // neither arguments nor variables: both may hold secrets
    tracing::info!(pid = child.id(), program = %command.program.display(), "child started");
    Ok(child)
}

/// A program that is ready to be forked.
struct Start {
    process: process::Command,
    mark: Mark,
    command: Command,
}

impl Start {
    fn new(command: &Command, streams: Streams) -> Self {
        #[expect(clippy::disallowed_methods, reason = "this is the place where programs are started")]
        let mut process = process::Command::new(&command.program);
        process.args(&command.args).stdin(streams.stdin).stdout(streams.stdout).stderr(streams.stderr);
        if command.is_env_cleared {
            process.env_clear();
        }
        for (name, value) in &command.env {
            match value {
                Some(value) => process.env(name, value),
                None => process.env_remove(name),
            };
        }
        if let Some(temp) = command.sandbox.as_ref().and_then(|sandbox| sandbox.temp.as_ref()) {
            process.env("TMPDIR", temp);
        }
        let mark = Mark::random();
        let (name, value) = mark.variable_with(Mark::of_owner(command.parent_death));
        process.env(name, value);
        if let Some(cwd) = &command.cwd {
            process.current_dir(cwd);
        }
        Self { process, mark, command: command.clone() }
    }

    /// Forks. The copies of the streams in this process are closed when this returns.
    fn run(mut self) -> io::Result<Child> {
        // before the fork: the program must end with this process from its first moment on
        let registration = Registration::new(&self.mark);
        let Command { parent_death, keeps_descendants, has_core_dumps, adopts_orphans, .. } = self.command;
        let (mark, owner) = (self.mark.limit(), Mark::of_owner(parent_death).limit());
        let parent = rustix::process::getpid();
        let cwd = self.command.cwd.as_deref();
        let sandbox = self.command.sandbox.as_ref().map(|sandbox| Prepared::new(sandbox, cwd)).transpose()?;
        PreExec { parent, parent_death, mark, owner, has_core_dumps, adopts_orphans, sandbox }
            .install(&mut self.process);
        let child = self.process.spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("the process id is out of range"))?;
        registration.follow(pid, parent_death, keeps_descendants);
        Ok(Child::new(child, pid, self.mark, registration, keeps_descendants, self.command.spawner))
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// Returns the thread that forks, which lives as long as this process.
fn fork_thread() -> io::Result<mpsc::SyncSender<Job>> {
    static THREAD: OnceLock<mpsc::SyncSender<Job>> = OnceLock::new();
    if let Some(jobs) = THREAD.get() {
        return Ok(jobs.clone());
    }
    let (jobs, queue) = mpsc::sync_channel::<Job>(64);
    thread::Builder::new()
        .name("spawner".to_owned())
        .spawn(move || queue.into_iter().for_each(|job| job()))?;
    // if two callers race, the channel of one thread is dropped, and that thread ends
    Ok(THREAD.get_or_init(|| jobs).clone())
}

fn thread_gone() -> io::Error {
    io::Error::other("cannot start the program: the spawner thread has ended")
}
