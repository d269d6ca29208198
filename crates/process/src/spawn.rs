//! Forks, on a thread that lives as long as this process: the kernel sends the parent-death signal when the forking *thread* ends.

use std::sync::{OnceLock, mpsc};
use std::{fmt, io, process, thread};

use rustix::process::Pid;
use tokio::sync::oneshot;

use crate::guard::Registration;
use crate::pre_exec::PreExec;
use crate::{Child, Command, Mark, Streams};

/// Runs a closure on a thread that lives at least as long as this spawner.
///
/// The kernel ends a program when the *thread* that forked it ends, so a thread of a pool will not do. A [`Child`] keeps the spawner it
/// was started on. By default one thread of this
/// process forks all programs. Set another with [`Command::spawn_on`] if a program has to inherit something from the thread, such as a
/// network namespace.
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
    /// Runs `job` on that thread. It may return before the job is done.
    fn run(&self, job: Box<dyn FnOnce() + Send>);
}

pub(crate) async fn spawn(command: &Command, streams: Streams) -> io::Result<Child> {
    let (done, result) = oneshot::channel();
    let start = Start::new(command, streams);
    // if the caller is gone, the child comes back as an error and is killed when it is dropped
    let job: Job = Box::new(move || drop(done.send(start.run())));
    match &command.spawner {
        Some(spawner) => spawner.run(job),
        None => our_thread()?.send(job).map_err(|_gone| thread_gone())?,
    }
    result.await.map_err(|_gone| thread_gone())?
}

/// A program that is ready to be forked.
struct Start {
    process: process::Command,
    mark: Mark,
    wanted: Command,
}

impl Start {
    fn new(wanted: &Command, streams: Streams) -> Self {
        #[expect(clippy::disallowed_methods, reason = "this is the place where programs are started")]
        let mut process = process::Command::new(&wanted.program);
        process.args(&wanted.args).stdin(streams.stdin).stdout(streams.stdout).stderr(streams.stderr);
        if wanted.is_env_cleared {
            process.env_clear();
        }
        for (name, value) in &wanted.env {
            match value {
                Some(value) => process.env(name, value),
                None => process.env_remove(name),
            };
        }
        let mark = Mark::random();
        let (name, value) = mark.variable_with(Mark::of_owner(wanted.parent_death));
        process.env(name, value);
        if let Some(cwd) = &wanted.cwd {
            process.current_dir(cwd);
        }
        Self { process, mark, wanted: wanted.clone() }
    }

    /// Forks. Our copies of the streams are closed when this returns.
    fn run(mut self) -> io::Result<Child> {
        // the guard first: from its first moment on the program has to end with us
        let registration = Registration::new(&self.mark);
        let Command { parent_death, keeps_remains, has_core_dumps, adopts_orphans, .. } = self.wanted;
        let (mark, owner) = (self.mark.limit(), Mark::of_owner(parent_death).limit());
        let parent = rustix::process::getpid();
        PreExec { parent, parent_death, mark, owner, has_core_dumps, adopts_orphans }
            .install(&mut self.process);
        let child = self.process.spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("the process id is out of range"))?;
        registration.follow(pid, parent_death, keeps_remains);
        Ok(Child::new(child, pid, self.mark, registration, keeps_remains, self.wanted.spawner))
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
