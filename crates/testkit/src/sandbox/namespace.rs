//! A network namespace with only loopback, and its thread.
//!
//! A namespace belongs to a thread, and what that thread creates stays in it: any runtime may serve sockets that it binds, and children
//! that it forks see no other network. The thread lives as long as the namespace, because the kernel ties a child's parent-death signal to
//! the thread that forked it.

use std::process::{Command, Stdio};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, bail};
use musher_rpc::Spawner;
use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use tokio::runtime::Handle;

type Job = Box<dyn FnOnce() + Send>;

/// The namespace; dropping it ends the thread.
#[derive(Debug)]
pub(crate) struct Namespace {
    jobs: Option<Arc<SyncSender<Job>>>,
    thread: Option<JoinHandle<()>>,
    id: String,
}

impl Namespace {
    pub(crate) fn new() -> Result<Self> {
        let (jobs, queue) = mpsc::sync_channel::<Job>(16);
        let (ready, opened) = mpsc::sync_channel(1);
        let thread = thread::Builder::new().name("sandbox".to_owned()).spawn(move || {
            let result = open();
            let is_open = result.is_ok();
            if ready.send(result).is_ok() && is_open {
                for job in queue {
                    job();
                }
            }
        })?;
        let id = opened.recv().context("the namespace thread has ended")??;
        Ok(Self { jobs: Some(Arc::new(jobs)), thread: Some(thread), id })
    }

    /// Returns the kernel's name of the namespace, as `/proc/PID/ns/net` links to it.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Runs a closure on the namespace thread, within the caller's runtime if there is one, and waits for it.
    pub(crate) fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let (done, result) = mpsc::sync_channel(1);
        let runtime = Handle::try_current().ok();
        let job = Box::new(move || {
            let _guard = runtime.as_ref().map(Handle::enter);
            // the caller waits below; if it is gone, the result is not needed
            done.send(job()).ok();
        });
        let jobs = self.jobs.as_ref().context("the sandbox is closed")?;
        jobs.send(job).map_err(|_gone| anyhow!("the namespace thread is gone: an earlier job panicked"))?;
        result.recv().context("the job panicked on the namespace thread")
    }
}

/// Forks on the namespace thread, while it exists.
#[derive(Debug)]
pub(crate) struct ForksInside(Weak<SyncSender<Job>>);

impl Namespace {
    pub(crate) fn spawner(&self) -> ForksInside {
        ForksInside(self.jobs.as_ref().map_or_else(Weak::new, Arc::downgrade))
    }
}

impl Spawner for ForksInside {
    fn run(&self, job: Job) {
        // without the namespace, nothing may be started: dropping the job reports an error to its caller
        if let Some(jobs) = self.0.upgrade() {
            jobs.send(job).ok();
        }
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn open() -> Result<String> {
    match unshare(CloneFlags::CLONE_NEWNET) {
        Ok(()) => {}
        Err(Errno::EPERM) => bail!(
            "a sandbox needs the right to make a network namespace (root or CAP_SYS_ADMIN): \
             run the whole command as root of a user namespace, `unshare --map-root-user cargo ...`"
        ),
        Err(error) => return Err(error).context("cannot create a network namespace"),
    }
    bring_loopback_up()?;
    let link = fs_err::read_link("/proc/thread-self/ns/net")?;
    Ok(link.to_string_lossy().into_owned())
}

#[expect(clippy::disallowed_methods, reason = "a helper that ends at once, waited for here; not an agent")]
fn bring_loopback_up() -> Result<()> {
    let output = Command::new("ip")
        .args(["link", "set", "lo", "up"])
        .stdin(Stdio::null())
        .output()
        .context("cannot start `ip` (package iproute2), which brings loopback up")?;
    if !output.status.success() {
        bail!("`ip link set lo up` failed: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(())
}
