//! Forks a shell: in a session of its own, marked, tied to our life.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;

use rustix::process::{Pid, Resource, Rlimit, Signal};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::brand::Brand;
use super::tree::Family;
use super::{Shell, warden};

/// The variable every process below a command inherits. Its value lists all marks, ours and those of agents above us.
pub(super) const MARKS: &str = "MUSHER_PROCESS_MARKS";

/// A shell that was just started.
#[derive(Debug)]
pub(super) struct Forked {
    pub(super) child: Child,
    pub(super) pid: Pid,
    pub(super) mark: String,
}

/// Without an input there is nothing to read.
pub(super) async fn fork(
    shell: Shell<'_>,
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: OwnedFd,
) -> io::Result<Forked> {
    let mark = Uuid::new_v4().to_string();
    let mut command = command(shell, &mark);
    command.stdin(stdin.map_or_else(Stdio::null, Stdio::from)).stdout(stdout).stderr(stderr);
    let (done, result) = oneshot::channel();
    let job = Box::new(move || {
        warden::wake();
        let forked = start(&mut command, mark);
        // our ends of its pipes must be closed before it is waited for
        drop(command);
        if let Err(Ok(forked)) = done.send(forked) {
            // nobody waits any more
            super::tree::kill(Family::default(), Some(forked.pid), &[&forked.mark]);
            reap(forked.child);
        }
    });
    our_thread()?.send(job).map_err(|_gone| thread_gone())?;
    result.await.map_err(|_gone| thread_gone())?
}

fn reap(mut child: Child) {
    // it was killed; if not even that helps, a thread must not wait for it
    child.try_wait().ok();
}

/// The shell of commands, without anybody's start-up files.
fn command(shell: Shell<'_>, mark: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the place where shell commands are started")]
    let mut command = Command::new(bash());
    command.args(["--noprofile", "--norc", "-c", shell.command]).current_dir(shell.cwd);
    command.env_clear().envs(shell.environment.iter().map(|(name, value)| (name, value)));
    command.env(MARKS, marks(mark));
    command
}

/// Where the shell is.
pub(super) fn bash() -> &'static str {
    let there = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| Path::new(path).exists());
    there.unwrap_or("bash")
}

/// The value of [`MARKS`] for a command.
pub(super) fn marks(mark: &str) -> String {
    let above = std::env::var(MARKS).unwrap_or_default();
    format!("{above} {} {mark}", warden::mark()).trim().to_owned()
}

fn start(command: &mut Command, mark: String) -> io::Result<Forked> {
    let parent = rustix::process::getpid();
    let (of_command, of_agent) = (Brand::of(&mark), Brand::of(warden::mark()));
    let prepare = move || {
        // A session of its own: signals reach the whole group, and there is no terminal to ask on.
        rustix::process::setsid()?;
        rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        brand(of_command, of_agent);
        tie_to(parent)
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed: setsid, getrlimit, setrlimit, prctl and getppid are
    // plain system calls, and the closure neither allocates nor takes a lock.
    #[expect(unsafe_code, reason = "there is no safe way to run code between fork and exec")]
    unsafe {
        command.pre_exec(prepare);
    }
    let child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("the process id is out of range"))?;
    Ok(Forked { child, pid, mark })
}

/// Marks this process in a way that is not lost with the environment.
#[cfg(target_os = "linux")]
fn brand(of_command: Brand, of_agent: Brand) {
    of_command.put_on(Resource::Locks);
    of_agent.put_on(Resource::Rttime);
}

#[cfg(not(target_os = "linux"))]
fn brand(_of_command: Brand, _of_agent: Brand) {}

/// Asks the kernel to kill this process when the thread that forked it ends, by SIGKILL of our process for example.
#[cfg(target_os = "linux")]
fn tie_to(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // Whoever loses its parent below the shell becomes the shell's own child, so that it is found when the shell is ended. Which
    // process is named does not matter, only that one is. The kernel keeps this over the exec.
    rustix::process::set_child_subreaper(Some(parent))?;
    // it may have died before we asked
    if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
}

#[cfg(not(target_os = "linux"))]
fn tie_to(_parent: Pid) -> io::Result<()> {
    Ok(())
}

type Task = Box<dyn FnOnce() + Send>;

/// The thread that forks, for as long as this process lives: the kernel ends a command when the *thread* that forked it ends.
fn our_thread() -> io::Result<mpsc::SyncSender<Task>> {
    static THREAD: OnceLock<mpsc::SyncSender<Task>> = OnceLock::new();
    if let Some(tasks) = THREAD.get() {
        return Ok(tasks.clone());
    }
    let (tasks, queue) = mpsc::sync_channel::<Task>(64);
    thread::Builder::new()
        .name("shell-spawner".to_owned())
        .spawn(move || queue.into_iter().for_each(|task| task()))?;
    // of two that come first at the same time one thread is left over: its channel is dropped, so it ends
    Ok(THREAD.get_or_init(|| tasks).clone())
}

fn thread_gone() -> io::Error {
    io::Error::other("the thread that starts commands is gone")
}

/// Starts the warden itself: detached, unmarked, and not tied to us, for it has to outlive us by a moment.
pub(super) fn start_warden(script: &str, marks: &[String]) -> io::Result<Child> {
    #[expect(clippy::disallowed_methods, reason = "this is the place where shell commands are started")]
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "musher-warden"]).args(marks).current_dir("/").env_clear();
    command.env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0);
    command.spawn()
}
